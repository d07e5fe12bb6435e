/// Controllers that need no training, and who may be picked.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/action.h"

namespace traffic::scene {

/// Decides, once a control period, what to ask of which vehicles. One per simulation.
class Controller {
 public:
  virtual ~Controller() = default;
  Controller() = default;
  Controller(const Controller&) = delete;
  Controller& operator=(const Controller&) = delete;
  /// Called at the start of every episode.
  virtual void reset(std::uint64_t seed) = 0;
  /// Appends commands for the state as it is now.
  virtual void decide(const RoadState& state, std::vector<Command>& commands) = 0;
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// Time between two calls of decide(); 0: after every step.
  [[nodiscard]] virtual double period_s() const = 0;
};

/// Who may be picked.
struct CandidateRule {
  double zone_m = 100.0;   ///< distance to the next stop line, at most
  bool lead_only = false;  ///< the first CV of each lane only
  /// Only those for whom a conflicting stream has a green that ends: others cannot arrive late.
  bool released_only = false;
};
/// A CV that may be commanded now.
struct Candidate {
  std::int32_t node = 0;      ///< among the vehicles, which are the frame's nodes
  std::int32_t conflict = 0;  ///< ahead of it
  std::int32_t approach = 0;  ///< of that conflict
};
/// The CVs that the rule admits and that are not committed to a command, in the order of the
/// frame's nodes.
void find_candidates(const RoadState& state, const CandidateRule& rule,
                     std::vector<Candidate>& out);

struct ControllerOptions {
  int top_k = 5;                 ///< vehicles under control at once, at most
  double random_period_s = 3.0;  ///< of `random`
  double random_share = 0.5;     ///< of the candidates that `random` commands
  CandidateRule candidates{};    ///< of `random`
  double meter_density = 30.0;   ///< `meter`: critical density of the zone, veh/km/lane
  double meter_from_m = 5.0;     ///< `meter` holds CVs between these distances to the stop line
  double meter_to_m = 60.0;
  double yield_from_m = 80.0;  ///< `yield` picks CVs between these distances to the stop line
  double yield_to_m = 200.0;
  double yield_left_s = 10.0;  ///< `yield`: least time left of the conflicting green
};

/// Names of the controllers that make_controller knows.
std::span<const std::string_view> controller_names();
/// none: asks for nothing. random: random categorical commands for random candidates. meter: while
/// the zone behind a conflict is over its critical density, CVs on its minor approaches are
/// stopped. yield: while a light releases a minor approach, the leading CV of each lane of the
/// major one arrives late, when that green ends.
/// @throws ConfigError if there is none of that name
std::unique_ptr<Controller> make_controller(std::string_view name,
                                            const ControllerOptions& options = {});

}  // namespace traffic::scene
