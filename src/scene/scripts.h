/// The scripted controllers that act.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "traffic/config/controller_spec.h"
#include "traffic/scene/controller.h"

namespace traffic::scene {

/// What they have in common: a number of vehicles, a period, a distance to the stop line by which
/// vehicles are picked.
class Script : public Controller {
 public:
  Script(const config::ControllerSpec& spec, const ControllerOptions& options);
  void reset(std::uint64_t /*seed*/) override {}
  [[nodiscard]] std::string_view name() const final { return name_; }
  [[nodiscard]] double period_s() const final { return period_s_; }

 protected:
  struct Ask {
    Longitudinal longitudinal = Longitudinal::kNone;
    double value = 0;
    LaneChange lane_change = LaneChange::kKeep;
  };
  /// Commands for one period: what `ask` says of each CV, nothing of whom it leaves alone; to the
  /// nearest to the stop line, no more than `top` of all.
  void command(const RoadState& state, const std::function<std::optional<Ask>(const Vehicle&)>& ask,
               std::vector<Command>& commands);
  [[nodiscard]] int top() const { return top_; }

 private:
  struct Pick {
    double line_m = 0;
    int vehicle = 0;
    Ask ask;
  };

  std::string name_;
  int top_;
  double period_s_;
  std::vector<Pick> picks_;
};

// Null when the controller of that name is none of them.

/// meter, vsl
std::unique_ptr<Controller> make_density_script(const config::ControllerSpec& spec,
                                                const ControllerOptions& options);
/// yield, let_in
std::unique_ptr<Controller> make_yielding_script(const config::ControllerSpec& spec,
                                                 const ControllerOptions& options);
/// brisk, glide
std::unique_ptr<Controller> make_driving_script(const config::ControllerSpec& spec,
                                                const ControllerOptions& options);
/// sort
std::unique_ptr<Controller> make_lane_script(const config::ControllerSpec& spec,
                                             const ControllerOptions& options);
/// Any of them.
std::unique_ptr<Controller> make_script(const config::ControllerSpec& spec,
                                        const ControllerOptions& options);

/// The one of the conflict ahead that the vehicle is on.
const Approach& approach_of(const RoadState& state, const Vehicle& v);
/// Whether the vehicle is under a command that has not ended.
bool is_committed(const Vehicle& vehicle, const RoadState& state);

}  // namespace traffic::scene
