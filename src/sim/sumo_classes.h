/// Declarations of SUMO's own classes, as in the sources of SUMO 1.28 (src/microsim, src/libsumo).
///
/// libsumo exports the functions below, since its own code calls them, but it has no headers for
/// them. SUMO's classes are far larger; this program only calls functions through pointers that
/// SUMO made. If a later libsumo lacks these functions or changes their types, the program fails to
/// link.
#pragma once

#include <string>

class EnergyParams;
class MSLane;
class SUMOVehicle;
enum SUMOVehicleClass : long;  // 0: any class

/// A vehicle. In a microscopic simulation every SUMOVehicle is an MSVehicle. SUMOVehicle is the
/// first base class of MSBaseVehicle, and MSBaseVehicle is that of MSVehicle. All three therefore
/// have the same address.
class MSBaseVehicle {
 public:
  long long getDepartDelay() const;  // ms
  EnergyParams* getEmissionParameters() const;
};
class MSVehicle {
 public:
  bool hasArrived() const;
  bool isOnRoad() const;
  const MSLane* getLane() const;
  double getPositionOnLane() const;
  double getSpeed() const;
  double getAcceleration() const;
  double getSlope() const;
  bool isIdling() const;
  double getTimeLossSeconds() const;
};

/// Emission models. A class of emissions is a number.
class PollutantsInterface {
 public:
  enum EmissionType { CO2, CO, HC, FUEL, NO_X, PM_X, ELEC };
  /// @return mg/s; Wh/s of electricity
  static double compute(int emission_class, EmissionType kind, double speed_mps, double accel_mps2,
                        double slope_deg, const EnergyParams* params);
  static std::string getFuel(int emission_class);
  static int getClassByName(const std::string& name, SUMOVehicleClass vehicle_class);
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
