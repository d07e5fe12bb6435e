/// Collects from SUMO the vehicles that leave the simulation.
#pragma once

#include <memory>
#include <vector>

#include "traffic/scene/vehicle.h"
#include "vehicle_handle.h"

namespace traffic::sim {

/// A vehicle that has left the simulation.
struct VehicleExit {
  bool arrived = false;  ///< at its destination; false: SUMO removed it (collisions, jams,
                         ///< vaporizers, calibrators)
  double time_loss_s = 0;
  double depart_delay_s = 0;
  scene::Emissions emissions{};  ///< in its last step, after note_departure()
  double driven_m = 0;           ///< distance that it drove in its last step
};

/// Reads vehicles at the moment that they leave. Afterwards SUMO deletes them, and libsumo only
/// lists their names, also those of vehicles that did not reach their destination.
class VehicleExits {
 public:
  VehicleExits();
  ~VehicleExits();
  VehicleExits(const VehicleExits&) = delete;
  VehicleExits& operator=(const VehicleExits&) = delete;

  /// Listens to the simulation that was loaded last, which must end before this object.
  /// @param step_s duration of a step
  void listen(double step_s);
  /// Makes the exit of a vehicle, which has departed, contain its emissions.
  /// @param vehicle must know its emission class
  void note_departure(const VehicleHandle& vehicle);
  /// Discards the exits so far; called before each step.
  void clear();
  /// Exits of the last step, in the order of libsumo's Simulation::getArrivedIDList().
  [[nodiscard]] const std::vector<VehicleExit>& all() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace traffic::sim
