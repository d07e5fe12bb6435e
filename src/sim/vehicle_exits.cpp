// Notes, for each vehicle that leaves the simulation, whether it has arrived and how much time it
// has lost.
#include "vehicle_exits.h"

#include <unordered_map>
#include <unordered_set>

#include "sumo_classes.h"

namespace traffic::sim {

/// SUMO calls it whenever the state of a vehicle changes.
class VehicleExits::Listener final : public MSNet::VehicleStateListener {
 public:
  void vehicleStateChanged(const SUMOVehicle* vehicle, MSNet::VehicleState to,
                           const std::string& /*info*/) override {
    if (to == MSNet::VehicleState::STARTING_TELEPORT) teleporting_.insert(vehicle);
    if (to == MSNet::VehicleState::ENDING_TELEPORT) teleporting_.erase(vehicle);
    if (to != MSNet::VehicleState::ARRIVED) return;  // SUMO's name for every exit
    // SUMO also removes a vehicle whose teleport leads beyond the end of its route, as in a jam
    // there. Such a vehicle has not arrived.
    const bool is_teleporting = teleporting_.erase(vehicle) > 0;
    const auto* moving = reinterpret_cast<const MSVehicle*>(vehicle);
    const auto* base = reinterpret_cast<const MSBaseVehicle*>(vehicle);
    exits.push_back({.arrived = !is_teleporting && moving->hasArrived(),
                     .time_loss_s = moving->getTimeLossSeconds(),
                     .depart_delay_s = static_cast<double>(base->getDepartDelay()) / 1000.0});
    if (!is_teleporting) exits.back().driven_m = moving->getSpeed() * step_s;
    const auto measured = emission_classes.find(moving);
    if (measured == emission_classes.end()) return;
    if (!is_teleporting) {
      exits.back().emissions = moving_emissions(*moving, measured->second, step_s);
    }
    emission_classes.erase(measured);
  }

  void reset(double new_step_s) {
    step_s = new_step_s;
    exits.clear();
    emission_classes.clear();
    teleporting_.clear();
  }

  std::vector<VehicleExit> exits;
  /// Emission classes of the vehicles that are on the road, if emissions are measured.
  std::unordered_map<const MSVehicle*, VehicleEmissionClass> emission_classes;
  double step_s = 1;

 private:
  std::unordered_set<const SUMOVehicle*> teleporting_;
};

VehicleExits::VehicleExits() : listener_(std::make_unique<Listener>()) {}
VehicleExits::~VehicleExits() = default;

void VehicleExits::listen(double step_s) {
  listener_->reset(step_s);
  MSNet::getInstance()->addVehicleStateListener(listener_.get());
}
void VehicleExits::note_departure(const VehicleHandle& vehicle) {
  listener_->emission_classes[vehicle.vehicle()] = *vehicle.emission_class();
}
void VehicleExits::clear() { listener_->exits.clear(); }
const std::vector<VehicleExit>& VehicleExits::all() const { return listener_->exits; }

}  // namespace traffic::sim
