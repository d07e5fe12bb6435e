// Reads the state of a vehicle directly from SUMO's own object.
#include "vehicle_handle.h"

#include "sumo_classes.h"

namespace traffic::sim {

VehicleHandle::VehicleHandle(const std::string& name, bool emissions)
    : vehicle_(reinterpret_cast<const MSVehicle*>(libsumo::Helper::getVehicle(name))) {
  if (emissions) emission_class_ = emission_class_of(name);
}

const void* VehicleHandle::lane() const {
  return vehicle_->isOnRoad() ? vehicle_->getLane() : nullptr;
}

double VehicleHandle::lane_pos_m() const { return vehicle_->getPositionOnLane(); }

double VehicleHandle::speed_mps() const { return vehicle_->getSpeed(); }

double VehicleHandle::time_loss_s() const { return vehicle_->getTimeLossSeconds(); }

scene::Emissions VehicleHandle::emissions(double step_s) const {
  if (vehicle_->isOnRoad()) return moving_emissions(*vehicle_, *emission_class_, step_s);
  if (vehicle_->isIdling()) return parked_emissions(*vehicle_, *emission_class_, step_s);
  return {};
}

}  // namespace traffic::sim
