#include "vehicle_handle.h"

// As in SUMO 1.28's src/microsim and src/libsumo; the classes are far larger, and never made here.
class MSLane;
class MSVehicle {
 public:
  bool isOnRoad() const;
  const MSLane* getLane() const;
  double getPositionOnLane() const;
  double getSpeed() const;
};
class MSBaseVehicle;

namespace libsumo {
class Helper {
 public:
  static MSBaseVehicle* getVehicle(const std::string& id);
};
}  // namespace libsumo

namespace traffic::sim {

// Of a microscopic simulation all vehicles are MSVehicles, whose first base is MSBaseVehicle.
VehicleHandle::VehicleHandle(const std::string& name)
    : vehicle_(reinterpret_cast<const MSVehicle*>(libsumo::Helper::getVehicle(name))) {}

const void* VehicleHandle::lane() const {
  return vehicle_->isOnRoad() ? vehicle_->getLane() : nullptr;
}

double VehicleHandle::lane_pos_m() const { return vehicle_->getPositionOnLane(); }

double VehicleHandle::speed_mps() const { return vehicle_->getSpeed(); }

}  // namespace traffic::sim
