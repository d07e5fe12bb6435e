#include "signal_scripts.h"

#include <string>

#include "index.h"

namespace traffic::scene {
namespace {

/// Chooses a green for every light that may switch.
class SignalScript : public Controller {
 public:
  SignalScript(const config::ControllerSpec& spec, const ControllerOptions& options)
      : name_(spec.name),
        period_s_(spec.get("period_s") > 0 ? spec.get("period_s") : options.period_s) {}

  void reset(std::uint64_t /*seed*/) final {}
  void decide(const RoadState& /*state*/, std::vector<Command>& /*commands*/) final {}
  [[nodiscard]] bool sets_signals() const final { return true; }
  void decide_signals(const SignalView& view, std::vector<SignalCommand>& commands) final {
    for (int light = 0; light < view.book().num_lights(); ++light) {
      if (view.book().may_switch(light)) commands.push_back({light, choose(view, light)});
    }
  }
  [[nodiscard]] std::string_view name() const final { return name_; }
  [[nodiscard]] double period_s() const final { return period_s_; }

 protected:
  [[nodiscard]] virtual int choose(const SignalView& view, int light) const = 0;

  /// The green with the highest score; the present one in a draw.
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

 private:
  std::string name_;
  double period_s_;
};

/// Chooses the green with the most vehicles near the stop line.
class Greedy final : public SignalScript {
  using SignalScript::SignalScript;
  [[nodiscard]] int choose(const SignalView& view, int light) const override {
    return best_of(view, light, [](const SignalLinkState& link) { return link.near; });
  }
};

/// Chooses the green with the longest queues before the stop line, less those behind it.
class MaxPressure final : public SignalScript {
  using SignalScript::SignalScript;
  [[nodiscard]] int choose(const SignalView& view, int light) const override {
    return best_of(view, light,
                   [](const SignalLinkState& link) { return link.queue - link.queue_behind; });
  }
};

/// Keeps the present green as long as vehicles come, then chooses the next green of the program for
/// which vehicles wait.
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

}  // namespace

std::unique_ptr<Controller> make_signal_script(const config::ControllerSpec& spec,
                                               const ControllerOptions& options) {
  if (spec.name == "greedy") return std::make_unique<Greedy>(spec, options);
  if (spec.name == "max_pressure") return std::make_unique<MaxPressure>(spec, options);
  if (spec.name == "actuated") return std::make_unique<Actuated>(spec, options);
  return nullptr;
}

}  // namespace traffic::scene
