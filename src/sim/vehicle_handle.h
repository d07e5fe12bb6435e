/// Direct access to a vehicle of the running simulation.
#pragma once

#include <optional>
#include <string>

#include "emissions.h"
#include "traffic/scene/vehicle.h"

class MSVehicle;

namespace traffic::sim {

/// A vehicle of the loaded simulation. Reading through a handle avoids the look-up by name in each
/// of libsumo's getters, which would take a twentieth of the processor time of a simulation. A
/// handle is valid from the vehicle's departure until SUMO lists the vehicle as arrived.
class VehicleHandle {
 public:
  /// @param emissions whether emissions() will be called
  /// @throws libsumo::TraCIException if there is no such vehicle
  explicit VehicleHandle(const std::string& name, bool emissions = false);

  /// Identifies the vehicle's lane until another network is loaded; null while the vehicle is on no
  /// road (parked, teleporting).
  [[nodiscard]] const void* lane() const;
  [[nodiscard]] double lane_pos_m() const;
  [[nodiscard]] double speed_mps() const;
  /// Time lost since departure, without scheduled stops, as in SUMO's trip information.
  [[nodiscard]] double time_loss_s() const;
  /// Emissions in the last step; none while the vehicle is being teleported.
  [[nodiscard]] scene::Emissions emissions(double step_s) const;

  [[nodiscard]] const MSVehicle* vehicle() const { return vehicle_; }
  /// The emission class that the vehicle had at its departure; empty unless emissions are measured.
  [[nodiscard]] const std::optional<VehicleEmissionClass>& emission_class() const {
    return emission_class_;
  }

 private:
  const MSVehicle* vehicle_;
  std::optional<VehicleEmissionClass> emission_class_;
};

}  // namespace traffic::sim
