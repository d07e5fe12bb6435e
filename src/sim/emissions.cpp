#include "emissions.h"

#include <libsumo/Vehicle.h>

#include "sumo_classes.h"

namespace traffic::sim {
namespace {

using Kind = PollutantsInterface::EmissionType;
constexpr double kGramsOfMilligram = 1e-3;

const EnergyParams* params_of(const MSVehicle& vehicle) {
  return reinterpret_cast<const MSBaseVehicle&>(vehicle).getEmissionParameters();
}

struct Drive {
  double speed_mps = 0;
  double accel_mps2 = 0;
  double slope_deg = 0;
};

scene::Emissions emissions_of(const VehicleEmissionClass& emission_class, const Drive& drive,
                              const EnergyParams* params, double step_s) {
  const auto rate = [&](Kind kind) {
    return PollutantsInterface::compute(emission_class.number, kind, drive.speed_mps,
                                        drive.accel_mps2, drive.slope_deg, params);
  };
  scene::Emissions emissions;
  if (emission_class.burns_fuel) {
    emissions.co2_g = kGramsOfMilligram * step_s * rate(Kind::CO2);
    emissions.fuel_g = kGramsOfMilligram * step_s * rate(Kind::FUEL);
  }
  if (emission_class.uses_electricity) emissions.electricity_wh = step_s * rate(Kind::ELEC);
  return emissions;
}

}  // namespace

VehicleEmissionClass emission_class_of(const std::string& vehicle) {
  const int number = PollutantsInterface::getClassByName(
      libsumo::Vehicle::getEmissionClass(vehicle), SUMOVehicleClass{});
  // Hybrid vehicles and classes whose fuel SUMO does not name may need both.
  const std::string fuel = PollutantsInterface::getFuel(number);
  return {.number = number,
          .burns_fuel = fuel != "Electricity",
          .uses_electricity = fuel != "Gasoline" && fuel != "Diesel"};
}

scene::Emissions idle_emissions_per_s(const std::string& vehicle) {
  const auto* found = reinterpret_cast<const MSVehicle*>(libsumo::Helper::getVehicle(vehicle));
  return parked_emissions(*found, emission_class_of(vehicle), 1.0);
}

scene::Emissions moving_emissions(const MSVehicle& vehicle,
                                  const VehicleEmissionClass& emission_class, double step_s) {
  return emissions_of(emission_class,
                      {.speed_mps = vehicle.getSpeed(),
                       .accel_mps2 = vehicle.getAcceleration(),
                       .slope_deg = vehicle.getSlope()},
                      params_of(vehicle), step_s);
}

scene::Emissions parked_emissions(const MSVehicle& vehicle,
                                  const VehicleEmissionClass& emission_class, double step_s) {
  return emissions_of(emission_class, {}, params_of(vehicle), step_s);
}

}  // namespace traffic::sim
