// Reads the state of a vehicle directly from SUMO's own object.
#include "vehicle_handle.h"

#include "sumo_classes.h"

namespace traffic::sim {

VehicleHandle::VehicleHandle(const std::string& name)
    : vehicle_(reinterpret_cast<const MSVehicle*>(libsumo::Helper::getVehicle(name))) {}

const void* VehicleHandle::lane() const {
  return vehicle_->isOnRoad() ? vehicle_->getLane() : nullptr;
}

double VehicleHandle::lane_pos_m() const { return vehicle_->getPositionOnLane(); }

double VehicleHandle::speed_mps() const { return vehicle_->getSpeed(); }

double VehicleHandle::time_loss_s() const { return vehicle_->getTimeLossSeconds(); }

}  // namespace traffic::sim
