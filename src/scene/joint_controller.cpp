// Joins a controller of vehicles and a controller of traffic lights into one controller.
#include "traffic/scene/joint_controller.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/scene/control_period.h"

namespace traffic::scene {
namespace {

/// Calls each of its controllers (its parts) whenever a decision of that controller is due.
class JointController final : public Controller {
 public:
  explicit JointController(std::vector<std::unique_ptr<Controller>> parts) {
    for (auto& part : parts) {
      name_ += fmt::format("{}{}", name_.empty() ? "" : "+", part->name());
      parts_.push_back({.controller = std::move(part)});
    }
  }

  void reset(std::uint64_t seed) override {
    for (Part& part : parts_) {
      part.controller->reset(seed);
      part.next_s.reset();
    }
  }

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    for (Part& part : parts_) {
      if (!part.next_s) part.next_s = state.time_s();
      part.due = state.time_s() >= *part.next_s - kTimeTolerance_s;
      if (!part.due) continue;
      part.controller->decide(state, commands);
      *part.next_s += part.controller->period_s();
    }
  }

  [[nodiscard]] bool sets_signals() const override {
    return std::ranges::any_of(parts_, [](const Part& p) { return p.controller->sets_signals(); });
  }
  [[nodiscard]] SignalMode signal_mode() const override {
    const auto of_lights = std::ranges::find_if(
        parts_, [](const Part& part) { return part.controller->sets_signals(); });
    return of_lights == parts_.end() ? SignalMode::kTakesOver
                                     : of_lights->controller->signal_mode();
  }
  void decide_signals(const SignalView& view, std::vector<SignalCommand>& commands) override {
    for (const Part& part : parts_) {
      if (part.due) part.controller->decide_signals(view, commands);
    }
  }

  [[nodiscard]] std::string_view name() const override { return name_; }
  /// 0: decide() is called after every step, because each part has its own decision times.
  [[nodiscard]] double period_s() const override { return 0.0; }

 private:
  struct Part {
    std::unique_ptr<Controller> controller;
    std::optional<double> next_s{};  ///< nothing before the first decision of an episode
    bool due = false;                ///< whether it decides at this step
  };

  std::string name_;
  std::vector<Part> parts_;
};

}  // namespace

std::unique_ptr<Controller> join_controllers(std::vector<std::unique_ptr<Controller>> parts) {
  TRAFFIC_CHECK(!parts.empty(), "no controllers to join");
  if (parts.size() == 1) return std::move(parts.front());
  const auto of_lights = std::ranges::count_if(
      parts, [](const std::unique_ptr<Controller>& part) { return part->sets_signals(); });
  if (parts.size() > 2 || of_lights != 1) {
    throw ConfigError(
        "{} controllers of traffic lights and {} of vehicles cannot act together; expected one of "
        "each",
        of_lights, static_cast<std::ptrdiff_t>(parts.size()) - of_lights);
  }
  return std::make_unique<JointController>(std::move(parts));
}

}  // namespace traffic::scene
