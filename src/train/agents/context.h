/// The objects that all agents of a training share.
#pragma once

#include "rollouts/rollouts.h"
#include "traffic/core/time_split.h"
#include "traffic/train/run/run.h"

namespace traffic::train {

/// All referenced objects outlive the agents.
struct AgentContext {
  Run& run;
  Rollouts& rollouts;
  TimeSplit& time_split;
};

}  // namespace traffic::train
