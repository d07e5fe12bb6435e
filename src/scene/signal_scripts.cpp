// The scripts greedy, max_pressure, actuated and retime, which set traffic lights.
#include "signal_scripts.h"

#include <algorithm>
#include <span>
#include <string>

#include "index.h"

namespace traffic::scene {
namespace {

/// Common base of the scripts. They command no vehicles and keep no state.
class LightScript : public Controller {
 public:
  LightScript(const config::ControllerSpec& spec, const ControllerOptions& options)
      : name_(spec.name),
        period_s_(spec.get("period_s") > 0 ? spec.get("period_s") : options.period_s) {}

  void reset(std::uint64_t /*seed*/) final {}
  void decide(const RoadState& /*state*/, std::vector<Command>& /*commands*/) final {}
  [[nodiscard]] bool sets_signals() const final { return true; }
  [[nodiscard]] std::string_view name() const final { return name_; }
  [[nodiscard]] double period_s() const final { return period_s_; }

 private:
  std::string name_;
  double period_s_;
};

/// Chooses a green for every light that may switch.
class SignalScript : public LightScript {
 public:
  using LightScript::LightScript;
  void decide_signals(const SignalView& view, std::vector<SignalCommand>& commands) final {
    for (int light = 0; light < view.book().num_lights(); ++light) {
      if (view.book().may_switch(light)) commands.push_back({light, choose(view, light)});
    }
  }

 protected:
  [[nodiscard]] virtual int choose(const SignalView& view, int light) const = 0;

  /// The green with the highest score. If the present green has that score too, returns the present
  /// green.
  template <typename Score>
  static int best_of(const SignalView& view, int light, const Score& score) {
    const SignalPlan& plan = view.book().plan(light);
    int best = view.book().present(light);
    double most = sum_of(view, light, best, score);
    for (int green = 0; green < static_cast<int>(plan.greens().size()); ++green) {
      const double sum = sum_of(view, light, green, score);
      if (sum <= most) continue;
      most = sum;
      best = green;
    }
    return best;
  }
  /// Sum of the scores of a green's links.
  template <typename Score>
  static double sum_of(const SignalView& view, int light, int green, const Score& score) {
    const auto& links = view.light(light).links;
    double sum = 0.0;
    for (const int link : at(view.book().plan(light).greens(), green).links) {
      if (static_cast<std::size_t>(link) < links.size()) sum += score(at(links, link));
    }
    return sum;
  }
};

/// Chooses the green with the most vehicles near the stop line.
class Greedy final : public SignalScript {
  using SignalScript::SignalScript;
  [[nodiscard]] int choose(const SignalView& view, int light) const override {
    return best_of(view, light, [](const SignalLinkState& link) { return link.near; });
  }
};

/// Chooses the green with the highest pressure: queues before the stop line minus queues after it.
class MaxPressure final : public SignalScript {
  using SignalScript::SignalScript;
  [[nodiscard]] int choose(const SignalView& view, int light) const override {
    return best_of(view, light,
                   [](const SignalLinkState& link) { return link.queue - link.queue_behind; });
  }
};

/// Keeps the present green while vehicles reach its stop lines, but at most max_s. Then chooses the
/// next green of the program for which there are vehicles.
class Actuated final : public SignalScript {
 public:
  Actuated(const config::ControllerSpec& spec, const ControllerOptions& options)
      : SignalScript(spec, options), max_s_(spec.get("max_s")) {}

 private:
  [[nodiscard]] int choose(const SignalView& view, int light) const override {
    const SignalBook& book = view.book();
    const int present = book.present(light);
    const auto coming = [](const SignalLinkState& link) { return link.coming; };
    const auto vehicles = [](const SignalLinkState& link) { return link.vehicles; };
    if (book.green_s(light) < max_s_ && sum_of(view, light, present, coming) > 0) return present;
    const int greens = static_cast<int>(book.plan(light).greens().size());
    for (int step = 1; step < greens; ++step) {
      const int next = (present + step) % greens;
      if (sum_of(view, light, next, vehicles) > 0) return next;
    }
    return present;
  }

  double max_s_;
};

/// Keeps the order of the program's phases and ends them early or late. A phase goes on while
/// vehicles reach its stop lines and waiting vehicles do not outnumber vehicles with green.
/// Vehicles that would drive into a full lane do not count.
class Retime final : public LightScript {
 public:
  Retime(const config::ControllerSpec& spec, const ControllerOptions& options)
      : LightScript(spec, options), weight_(spec.get("weight")) {}

  [[nodiscard]] SignalMode signal_mode() const override { return SignalMode::kKeepsPrograms; }

  void decide_signals(const SignalView& view, std::vector<SignalCommand>& commands) override {
    // A phase that goes on must not end before the next decision.
    const auto two_periods_s = static_cast<float>(2.0 * period_s());
    for (int light = 0; light < view.book().num_lights(); ++light) {
      const SignalBook& book = view.book();
      if (!book.may_switch(light, period_s())) continue;
      const bool stays = goes_on(view, light, book.plan(light).phases(), book.phase(light));
      commands.push_back({.light = light, .left_s = stays ? two_periods_s : 0.0F});
    }
  }

 private:
  [[nodiscard]] bool goes_on(const SignalView& view, int light, std::span<const SignalPhase> phases,
                             int phase) const {
    constexpr double kFullShare = 0.3;  // below this room_behind a lane counts as full
    const std::string& shown = at(phases, phase).state;
    int coming = 0;
    int with_green = 0;
    int waiting = 0;
    const auto& links = view.light(light).links;
    for (std::size_t link = 0; link < std::min(links.size(), shown.size()); ++link) {
      const SignalLinkState& now = links[link];
      if (is_green(shown[link])) {
        coming += now.coming;
        if (now.room_behind >= kFullShare) with_green += now.close;
      } else if (gets_green(phases, link)) {
        waiting += now.close;
      }
    }
    return coming > 0 && weight_ * with_green >= waiting;
  }

  static bool gets_green(std::span<const SignalPhase> phases, std::size_t link) {
    return std::ranges::any_of(phases, [&](const SignalPhase& phase) {
      return link < phase.state.size() && is_green(phase.state[link]);
    });
  }

  double weight_;
};

}  // namespace

std::unique_ptr<Controller> make_signal_script(const config::ControllerSpec& spec,
                                               const ControllerOptions& options) {
  if (spec.name == "greedy") return std::make_unique<Greedy>(spec, options);
  if (spec.name == "max_pressure") return std::make_unique<MaxPressure>(spec, options);
  if (spec.name == "actuated") return std::make_unique<Actuated>(spec, options);
  if (spec.name == "retime") return std::make_unique<Retime>(spec, options);
  return nullptr;
}

}  // namespace traffic::scene
