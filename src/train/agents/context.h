/// What an agent is made with.
#pragma once

#include "rollouts/rollouts.h"
#include "traffic/core/time_split.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// Everything outlives the agent.
struct AgentContext {
  Run& run;
  Rollouts& rollouts;
  TimeSplit& time_split;
};

}  // namespace traffic::train
