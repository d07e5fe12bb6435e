// Carries out the commands for traffic lights: green, yellow, all-red, and their durations.
#include "traffic/scene/signal_book.h"

#include <algorithm>
#include <utility>

#include "index.h"
#include "traffic/core/error.h"
#include "traffic/scene/control_period.h"

namespace traffic::scene {
namespace {

bool is_over(double shown_s, double limit_s) { return shown_s >= limit_s - kTimeTolerance_s; }

}  // namespace

void SignalBook::reset(std::vector<SignalPlan> plans, const SignalLimits& limits, SignalMode mode) {
  mode_ = mode;
  limits_ = limits;
  lights_.clear();
  for (SignalPlan& plan : plans) lights_.push_back({.plan = std::move(plan), .shown_s = {}});
  changes_.clear();
  time_s_ = 0;
  num_changes_ = 0;
}

void SignalBook::observe(double time_s, std::span<const LightState> lights) {
  const double before_s = std::exchange(time_s_, time_s);
  changes_.clear();
  for (std::size_t i = 0; i < lights_.size(); ++i) {
    Light& light = lights_[i];
    if (mode_ == SignalMode::kKeepsPrograms) {
      follow_program(lights[i], before_s, light);
      continue;
    }
    if (light.stage != Stage::kProgram || !light.plan.has_choice()) continue;
    const int green = light.plan.find(lights[i].state);
    if (green < 0) continue;  // yellow: wait for the next green of the program
    light.present = green;
    light.shown_s.assign(light.plan.greens().size(), time_s);
    enter(light, Stage::kGreen);
    changes_.push_back({.light = static_cast<int>(i), .state = state_of(light)});
  }
}

/// Notes the phase that a light shows which keeps its program.
void SignalBook::follow_program(const LightState& shown, double before_s, Light& light) const {
  light.phase_left_s = shown.phase_left_s;
  if (shown.phase != light.phase) {
    light.phase_since_s = before_s;  // SUMO changes lights at the beginning of a step
    if (light.phase < 0 && shown.phase >= 0) {
      const double duration_s = at(light.plan.phases(), shown.phase).duration_s;
      light.phase_since_s = time_s_ - std::max(0.0, duration_s - shown.phase_left_s);
    }
    light.phase = shown.phase;
    light.phase_is_set = false;
  }
  if (light.phase < 0) return;
  light.shown_s.resize(light.plan.phases().size(), time_s_);
  at(light.shown_s, light.phase) = time_s_;
}

void SignalBook::set_inside(int light, int standing, int leaving) {
  Light& one = at(lights_, light);
  one.occupied = standing + leaving > 0;
  if (leaving > 0) one.moved_s = time_s_;
}

bool SignalBook::waits_for_clearance(const Light& light) const {
  if (!light.occupied || is_over(stage_s(light), limits_.all_red_s + kLongestClearanceS)) {
    return false;
  }
  const double since_s = std::max(light.since_s + limits_.all_red_s, light.moved_s);
  return !is_over(time_s_ - since_s, kClearanceS);
}

void SignalBook::add(std::span<const SignalCommand> commands) {
  for (const SignalCommand& command : commands) {
    TRAFFIC_CHECK(command.light >= 0 && command.light < num_lights(),
                  "a command is for light {}, but the network has {} lights: expected an index in "
                  "the list of plans that reset() got",
                  command.light, num_lights());
    Light& light = at(lights_, command.light);
    if (mode_ == SignalMode::kKeepsPrograms) {
      add_timing(command, light);
      continue;
    }
    const auto greens = static_cast<std::int32_t>(light.plan.greens().size());
    TRAFFIC_CHECK(
        command.green >= 0 && command.green < greens,
        "a command is for green {} of light {}, which has {} greens: expected an index in "
        "SignalPlan::greens()",
        command.green, command.light, greens);
    TRAFFIC_CHECK(
        may_switch(command.light),
        "light {} is commanded to show green {} while it may not switch: ask may_switch() "
        "before each command",
        command.light, command.green);
    light.next = command.green == light.present ? -1 : command.green;
  }
}

void SignalBook::add_timing(const SignalCommand& command, Light& light) {
  TRAFFIC_CHECK(
      light.phase >= 0 && command.left_s >= 0.0F,
      "light {} is commanded to keep phase {} for {} s: expected a phase that observe() has "
      "seen (0 or more) and a time of at least 0 s",
      command.light, light.phase, command.left_s);
  if (!light.phase_is_set) ++num_changes_;
  light.phase_is_set = true;
  const TimeLeft limits = time_left(light);
  const double left_s = std::clamp(static_cast<double>(command.left_s), limits.shortest_s,
                                   std::max(limits.shortest_s, limits.longest_s));
  changes_.push_back({.light = command.light, .left_s = left_s});
}

const std::vector<SignalChange>& SignalBook::advance() {
  for (std::size_t i = 0; i < lights_.size(); ++i) {
    Light& light = lights_[i];
    bool changed = false;
    while (walk(light)) changed = true;
    if (changed) changes_.push_back({.light = static_cast<int>(i), .state = state_of(light)});
    if (light.stage == Stage::kGreen) at(light.shown_s, light.present) = time_s_;
  }
  return changes_;
}

bool SignalBook::walk(Light& light) {
  switch (light.stage) {
    case Stage::kProgram:
      return false;
    case Stage::kGreen: {
      const bool longest = limits_.max_green_s > 0 && is_over(stage_s(light), limits_.max_green_s);
      if (light.next < 0 && longest) {
        light.next = (light.present + 1) % static_cast<int>(light.plan.greens().size());
      }
      if (light.next < 0 || !is_over(stage_s(light), limits_.min_green_s)) return false;
      ++num_changes_;
      enter(light,
            light.plan.needs_yellow(light.present, light.next) ? Stage::kYellow : Stage::kAllRed);
      if (light.stage == Stage::kAllRed) {
        light.since_s =
            time_s_ - limits_.all_red_s - kLongestClearanceS;  // no link loses green: ends at once
      }
      return true;
    }
    case Stage::kYellow:
      if (!is_over(stage_s(light), limits_.yellow_s)) return false;
      enter(light, Stage::kAllRed);
      return true;
    case Stage::kAllRed:
      if (!is_over(stage_s(light), limits_.all_red_s) || waits_for_clearance(light)) return false;
      light.present = std::exchange(light.next, -1);
      enter(light, Stage::kGreen);
      return true;
  }
  return false;
}

void SignalBook::enter(Light& light, Stage stage) {
  light.stage = stage;
  light.since_s = time_s_;
}

std::string SignalBook::state_of(const Light& light) {
  if (light.stage == Stage::kYellow) return light.plan.yellow(light.present, light.next);
  if (light.stage == Stage::kAllRed) return light.plan.all_red(light.present, light.next);
  return at(light.plan.greens(), light.present).state;
}

const SignalBook::Light& SignalBook::light_at(int light) const { return at(lights_, light); }
const SignalPlan& SignalBook::plan(int light) const { return light_at(light).plan; }
int SignalBook::present(int light) const { return light_at(light).present; }
int SignalBook::phase(int light) const { return light_at(light).phase; }

double SignalBook::phase_s(int light) const {
  const Light& one = light_at(light);
  return one.phase < 0 ? 0.0 : time_s_ - one.phase_since_s;
}

double SignalBook::phase_left_s(int light) const { return light_at(light).phase_left_s; }

SignalBook::TimeLeft SignalBook::time_left(const Light& light) const {
  if (light.phase < 0) return {};
  const SignalPhase allowed = light.plan.with_limits(light.phase, limits_.phase_range);
  const double shown_s = time_s_ - light.phase_since_s;
  const bool is_fixed = allowed.max_s <= allowed.min_s;
  return {.shortest_s = std::max(allowed.min_s - shown_s, 0.0),
          .longest_s = is_fixed ? 0.0 : std::max(allowed.max_s - shown_s, 0.0)};
}

std::vector<SignalOption> SignalBook::options(int light) const {
  const Light& one = light_at(light);
  std::vector<SignalOption> options;
  if (mode_ == SignalMode::kTakesOver) {
    for (int green = 0; green < static_cast<int>(one.plan.greens().size()); ++green) {
      const bool is_present = green == one.present;
      options.push_back({.green = &at(one.plan.greens(), green),
                         .is_present = is_present,
                         .shown_s = is_present ? green_s(light) : 0.0,
                         .hidden_s = red_s(light, green)});
    }
    return options;
  }
  const int next = one.phase < 0 ? -1 : one.plan.next_green(one.phase);
  if (next < 0) return options;
  options.push_back(
      {.green = &one.plan.green_of(one.phase), .is_present = true, .shown_s = phase_s(light)});
  options.push_back(
      {.green = &one.plan.green_of(next), .hidden_s = time_s_ - at(one.shown_s, next)});
  return options;
}

bool SignalBook::may_switch(int light, double next_s) const {
  const Light& one = light_at(light);
  if (mode_ == SignalMode::kTakesOver) {
    return one.stage == Stage::kGreen && is_over(stage_s(one), limits_.min_green_s);
  }
  if (one.phase < 0 || one.plan.next_green(one.phase) < 0) return false;
  const TimeLeft left = time_left(one);
  return left.shortest_s < std::max(next_s, kTimeTolerance_s) && left.longest_s > kTimeTolerance_s;
}

double SignalBook::green_s(int light) const {
  const Light& one = light_at(light);
  return one.stage == Stage::kGreen ? stage_s(one) : 0.0;
}

double SignalBook::red_s(int light, int green) const {
  const Light& one = light_at(light);
  if (one.present < 0 || (one.stage == Stage::kGreen && one.present == green)) return 0.0;
  return time_s_ - at(one.shown_s, green);
}

}  // namespace traffic::scene
