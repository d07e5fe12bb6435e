/// Direct access to a vehicle of the running simulation.
#pragma once

#include <string>

class MSVehicle;

namespace traffic::sim {

/// A vehicle of the loaded simulation. Reading through a handle avoids the look-up by name in each
/// of libsumo's getters, which would take a twentieth of the processor time of a simulation. A
/// handle is valid from the vehicle's departure until SUMO lists the vehicle as arrived.
class VehicleHandle {
 public:
  /// @throws libsumo::TraCIException if there is no such vehicle
  explicit VehicleHandle(const std::string& name);

  /// Identifies the vehicle's lane until another network is loaded; null while the vehicle is on no
  /// road (parked, teleporting).
  [[nodiscard]] const void* lane() const;
  [[nodiscard]] double lane_pos_m() const;
  [[nodiscard]] double speed_mps() const;
  /// Time lost since departure, without scheduled stops, as in SUMO's trip information.
  [[nodiscard]] double time_loss_s() const;

 private:
  const MSVehicle* vehicle_;
};

}  // namespace traffic::sim
