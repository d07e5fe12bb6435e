/// The agents that a rank decides for in its episodes.
#pragma once

#include "policy/decider.h"
#include "rollouts/light_setter.h"

namespace traffic::train {

/// The agents that act. An agent that is null leaves its part of the traffic to SUMO: vehicles
/// drive as their models do, lights show their own programs.
struct Actors {
  const Decider* vehicles = nullptr;
  LightSetter* lights = nullptr;

  [[nodiscard]] bool any() const { return vehicles != nullptr || lights != nullptr; }
};

}  // namespace traffic::train
