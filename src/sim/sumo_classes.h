/// Declarations of SUMO's own classes, as in the sources of SUMO 1.28 (src/microsim, src/libsumo).
///
/// libsumo exports the functions below, since its own code calls them, but it ships no headers of
/// them. SUMO's classes are far larger; the program only calls functions through pointers that SUMO
/// made. A libsumo without these functions, or with other types, does not link.
#pragma once

#include <string>

class MSLane;
class SUMOVehicle;

/// A vehicle. In a microscopic simulation every SUMOVehicle is an MSVehicle; it is the first base
/// class of MSBaseVehicle, which is the first one of MSVehicle, so that addresses agree.
class MSBaseVehicle {
 public:
  long long getDepartDelay() const;  // ms
};
class MSVehicle {
 public:
  bool hasArrived() const;
  bool isOnRoad() const;
  const MSLane* getLane() const;
  double getPositionOnLane() const;
  double getSpeed() const;
  double getTimeLossSeconds() const;
};

class MSNet {
 public:
  enum class VehicleState : int { STARTING_TELEPORT = 2, ENDING_TELEPORT = 3, ARRIVED = 4 };
  class VehicleStateListener {
   public:
    VehicleStateListener() = default;
    virtual ~VehicleStateListener() = default;
    virtual void vehicleStateChanged(const SUMOVehicle* vehicle, VehicleState to,
                                     const std::string& info) = 0;
  };
  static MSNet* getInstance();
  void addVehicleStateListener(VehicleStateListener* listener);
};

namespace libsumo {
class Helper {
 public:
  static MSBaseVehicle* getVehicle(const std::string& id);
};
}  // namespace libsumo
