/// Collects from SUMO the vehicles that leave the simulation.
#pragma once

#include <memory>
#include <vector>

namespace traffic::sim {

/// A vehicle that has left the simulation.
struct VehicleExit {
  bool arrived = false;  ///< at its destination; false: SUMO removed it (collisions, jams,
                         ///< vaporizers, calibrators)
  double time_loss_s = 0;
  double depart_delay_s = 0;
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
  void listen();
  /// Discards the exits so far; called before each step.
  void clear();
  /// Exits of the last step, in the order of libsumo's Simulation::getArrivedIDList().
  [[nodiscard]] const std::vector<VehicleExit>& all() const;

 private:
  class Listener;
  std::unique_ptr<Listener> listener_;
};

}  // namespace traffic::sim
