/// Emissions of vehicles of the running simulation, by SUMO's emission models.
#pragma once

#include <string>

#include "traffic/scene/vehicle.h"

class MSVehicle;

namespace traffic::sim {

/// The emission class of a vehicle, which its type determines.
struct VehicleEmissionClass {
  int number = 0;                ///< SUMO's number of the class
  bool burns_fuel = true;        ///< false: CO2 and fuel are 0 and need not be computed
  bool uses_electricity = true;  ///< false: the electric energy is 0 and need not be computed
};
/// @throws libsumo::TraCIException if there is no such vehicle
VehicleEmissionClass emission_class_of(const std::string& vehicle);

/// Emissions per second of a vehicle that stands with its engine running. The vehicle may still
/// wait to enter.
/// @throws libsumo::TraCIException if there is no such vehicle
scene::Emissions idle_emissions_per_s(const std::string& vehicle);

/// Emissions in the last step of a vehicle that has moved or stood on the road in this step, as
/// SUMO's emission device counts them.
scene::Emissions moving_emissions(const MSVehicle& vehicle,
                                  const VehicleEmissionClass& emission_class, double step_s);

/// Emissions in the last step of a vehicle that is parked with its engine running.
scene::Emissions parked_emissions(const MSVehicle& vehicle,
                                  const VehicleEmissionClass& emission_class, double step_s);

}  // namespace traffic::sim
