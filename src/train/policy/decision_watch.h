/// DecisionWatch sees what the trained policies of a controller observe and decide in a simulation,
/// for example to record it.
#pragma once

#include <span>

#include "policy/decider.h"
#include "policy/light_policy.h"
#include "traffic/rollout/traffic/light_choices.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train {

/// A decision of a policy for vehicles.
struct VehicleMoment {
  const Decider& decider;
  const rollout::Period& period;
  const Observation& seen;
  const DecidedState& decided;
};

/// A decision of a policy for traffic lights, for the lights that may switch.
struct LightMoment {
  LightPolicy& policy;
  const scene::SignalView& view;
  std::span<const rollout::LightChoice> choices;
  std::span<const float> rows;   ///< features of the options of all choices
  scene::SignalGraphView graph;  ///< empty if the policy does not use it
  const LightBatch& batch;
  const LightDecisions& decided;
};

/// The members are called after each decision, before its commands are carried out. Their arguments
/// are valid during the call.
class DecisionWatch {
 public:
  virtual ~DecisionWatch() = default;
  virtual void on_vehicles(const VehicleMoment& moment) = 0;
  virtual void on_lights(const LightMoment& moment) = 0;
};

}  // namespace traffic::train
