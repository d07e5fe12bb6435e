/// The part of the agent `speed_limits` that runs in a training: one linear softmax policy for all
/// signs, which learns by policy gradient.
///
/// Source: Williams 1992, "Simple statistical gradient-following algorithms for connectionist
/// reinforcement learning".
#pragma once

#include "traffic/train/agents/agent.h"

namespace traffic::example {

train::AgentRow speed_limits_agent();

}  // namespace traffic::example
