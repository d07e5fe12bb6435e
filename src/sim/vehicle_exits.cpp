#include "vehicle_exits.h"

#include "sumo_classes.h"

namespace traffic::sim {

class VehicleExits::Listener final : public MSNet::VehicleStateListener {
 public:
  void vehicleStateChanged(const SUMOVehicle* vehicle, MSNet::VehicleState to,
                           const std::string& /*info*/) override {
    if (to != MSNet::VehicleState::ARRIVED) return;  // SUMO's name for every exit
    const auto* moving = reinterpret_cast<const MSVehicle*>(vehicle);
    const auto* base = reinterpret_cast<const MSBaseVehicle*>(vehicle);
    exits.push_back({.arrived = moving->hasArrived(),
                     .time_loss_s = moving->getTimeLossSeconds(),
                     .depart_delay_s = static_cast<double>(base->getDepartDelay()) / 1000.0});
  }

  std::vector<VehicleExit> exits;
};

VehicleExits::VehicleExits() : listener_(std::make_unique<Listener>()) {}
VehicleExits::~VehicleExits() = default;

void VehicleExits::listen() {
  clear();
  MSNet::getInstance()->addVehicleStateListener(listener_.get());
}
void VehicleExits::clear() { listener_->exits.clear(); }
const std::vector<VehicleExit>& VehicleExits::all() const { return listener_->exits; }

}  // namespace traffic::sim
