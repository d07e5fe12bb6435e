#pragma once

#include <string>

class MSVehicle;

namespace traffic::sim {

/// A vehicle of the simulation that is loaded, without the look-up by name that each of libsumo's
/// getters makes: reading all vehicles by those takes a twentieth of the processor time of a
/// simulation. Valid from the vehicle's departure until SUMO lists it as arrived.
///
/// libsumo exports the functions that it calls, but ships no headers of them; a library that has
/// them no longer, or with other types, does not link.
class VehicleHandle {
 public:
  /// @throws libsumo::TraCIException if there is no such vehicle
  explicit VehicleHandle(const std::string& name);

  /// What stands for its lane until another network is loaded; null while it is on no road (parked,
  /// teleporting).
  [[nodiscard]] const void* lane() const;
  [[nodiscard]] double lane_pos_m() const;
  [[nodiscard]] double speed_mps() const;

 private:
  const MSVehicle* vehicle_;
};

}  // namespace traffic::sim
