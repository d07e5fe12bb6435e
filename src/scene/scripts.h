/// Script, the base class of the scripted controllers of vehicles, and functions that make the
/// scripts.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "traffic/config/controller_spec.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {

/// Common base of the scripts. It keeps their common parameters: how many vehicles they command,
/// how often they decide, and how hard commanded vehicles brake.
class Script : public Controller {
 public:
  Script(const config::ControllerSpec& spec, const ControllerOptions& options);
  void reset(std::uint64_t /*seed*/) override {}
  [[nodiscard]] std::string_view name() const final { return name_; }
  [[nodiscard]] double period_s() const final { return period_s_; }

 protected:
  /// The command that a script has for a vehicle.
  struct Ask {
    Longitudinal longitudinal = Longitudinal::kNone;
    double value = 0;
    LaneChange lane_change = LaneChange::kKeep;
  };
  /// Appends commands for one period. `ask` returns the command for a CV, or nothing if the CV gets
  /// no command. Only the top() vehicles nearest to their stop lines get their commands.
  void command(const RoadState& state, const std::function<std::optional<Ask>(const Vehicle&)>& ask,
               std::vector<Command>& commands);
  /// Maximum number of vehicles that the script commands.
  [[nodiscard]] int top() const { return top_; }
  [[nodiscard]] double brake_mps2() const { return brake_mps2_; }

 private:
  /// A vehicle (index into RoadState::vehicles()) for which there is a command.
  struct Pick {
    double line_m = 0;
    int vehicle = 0;
    Ask ask;
  };

  std::string name_;
  int top_;
  double brake_mps2_;  ///< maximum deceleration; 0: ControlLimits::max_slowdown_mps2
  double period_s_;
  std::vector<Pick> picks_;
};

// Each of the following functions returns null if spec.name is not one of its scripts.

/// Makes the scripts meter and vsl.
std::unique_ptr<Controller> make_density_script(const config::ControllerSpec& spec,
                                                const ControllerOptions& options);
/// Makes the scripts yield and let_in.
std::unique_ptr<Controller> make_yielding_script(const config::ControllerSpec& spec,
                                                 const ControllerOptions& options);
/// Makes the scripts brisk and glide.
std::unique_ptr<Controller> make_driving_script(const config::ControllerSpec& spec,
                                                const ControllerOptions& options);
/// Makes the script sort.
std::unique_ptr<Controller> make_lane_script(const config::ControllerSpec& spec,
                                             const ControllerOptions& options);
/// Makes any of the scripts above.
std::unique_ptr<Controller> make_script(const config::ControllerSpec& spec,
                                        const ControllerOptions& options);

/// The vehicle's approach to the conflict ahead.
const Approach& approach_of(const RoadState& state, const Vehicle& v);
/// Whether the vehicle is under a command that has not ended.
bool is_committed(const Vehicle& vehicle, const RoadState& state);

}  // namespace traffic::scene
