/// The agents that a rank decides for in its episodes.
#pragma once

#include "policy/decider.h"
#include "rollouts/light_setter.h"

namespace traffic::train {

/// The agents that act. Where an agent is null, SUMO controls that part of the traffic: vehicles
/// follow their car-following models, lights run their own programs.
struct Actors {
  const Decider* vehicles = nullptr;
  LightSetter* lights = nullptr;

  [[nodiscard]] bool any() const { return vehicles != nullptr || lights != nullptr; }
};

}  // namespace traffic::train
