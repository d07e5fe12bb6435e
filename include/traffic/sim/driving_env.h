/// One SUMO simulation in which objects of the class driving::Driver move some vehicles, the egos,
/// among SUMO's traffic.
///
///     double progress_of_first(driving::Driver& driver, std::uint64_t seed) {
///       DrivingEnv env({.scenario = "lights_town", .egos = 1}, seed);
///       while (!env.done()) env.drive(driver.plan(env.views()));
///       return env.measures(0).progress_m;
///     }
///
/// A kinematic bicycle follows each plan (traffic/driving/motion.h), and its pose is sent to SUMO
/// after every step of 0.1 s. The other vehicles see the egos on their lanes and react to them.
/// libsumo allows only one simulation per process, see sumo_env.h. Not thread-safe.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "traffic/driving/drive_measures.h"
#include "traffic/driving/driver.h"

namespace traffic::sim {

struct DrivingOptions {
  std::string scenario{};                ///< a .sumocfg or the name of a shipped scenario
  std::vector<std::string> sumo_args{};  ///< further arguments of SUMO
  double demand_factor = 1.0;            ///< multiplies the scenario's demand
  double warm_up_s = 60.0;               ///< SUMO drives all vehicles for this time at first
  double duration_s = 60.0;              ///< maximum time for which the drivers then move the egos
  int egos = 12;  ///< maximum number of egos, which are chosen by the seed and their names
};

/// A vehicle in the simulation.
struct DrivenVehicle {
  std::uint32_t id = 0;  ///< counted in the order of departure
  int ego = -1;  ///< number of the ego if this is one that a driver moves; -1: SUMO drives it
  driving::Box box;
};

class DrivingEnv {
 public:
  /// Loads the scenario, simulates the warm-up and chooses the egos: passenger cars on the road,
  /// the same in every run with this seed.
  /// @throws DataError with SUMO's own message if the scenario cannot be loaded, or if it has no
  ///     lane for cars, or no car on the road after the warm-up
  DrivingEnv(const DrivingOptions& options, std::uint64_t seed);
  ~DrivingEnv();
  DrivingEnv(const DrivingEnv&) = delete;
  DrivingEnv& operator=(const DrivingEnv&) = delete;

  /// Whether duration_s is over or no ego is on the road any more.
  [[nodiscard]] bool done() const;
  /// What the egos on the road see now. Valid until the next call that moves them.
  [[nodiscard]] std::span<const driving::View> views() const;
  /// For each of views(): the number of the ego to which the view belongs.
  [[nodiscard]] std::span<const int> driven() const;

  /// Moves the egos along their plans for half a second.
  /// @param plans a plan for each of views()
  void drive(std::span<const driving::Plan> plans);
  /// Lets SUMO's own drivers move the egos for half a second.
  void drive_by_sumo();
  /// The way that each ego would take from its present state in the next three seconds if SUMO's
  /// own driver model moved all egos. A copy of this process simulates it, so that the simulation
  /// itself does not change.
  /// @return a plan for each of views(); nothing for an ego that would arrive within these three
  ///     seconds
  [[nodiscard]] std::vector<std::optional<driving::Plan>> expert_plans();

  [[nodiscard]] int num_egos() const;
  /// SUMO's name of an ego.
  [[nodiscard]] const std::string& name_of(int ego) const;
  [[nodiscard]] const driving::DriveMeasures& measures(int ego) const;
  /// The vehicles on the road.
  [[nodiscard]] std::span<const DrivenVehicle> vehicles() const;
  [[nodiscard]] const std::shared_ptr<const driving::RoadMap>& map() const;
  /// SUMO's letter (such as 'G' or 'r') for each of the map's signals now.
  [[nodiscard]] std::span<const std::uint8_t> signals() const;
  /// Seconds since the end of the warm-up.
  [[nodiscard]] double time_s() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic::sim
