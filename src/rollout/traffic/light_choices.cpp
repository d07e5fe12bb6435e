// LightChooser: finds the traffic lights that must choose, lists the greens among which they can
// choose, and converts choices to commands.
#include "traffic/rollout/traffic/light_choices.h"

#include <algorithm>

#include "traffic/config/controller_spec.h"
#include "traffic/scene/control_period.h"

namespace traffic::rollout {
namespace {

// The two choices of a light that keeps its program.
constexpr std::size_t kStay = 0;    // the phase lasts at least until the next decision
constexpr std::size_t kMoveOn = 1;  // the phase ends

}  // namespace

LightChooser::LightChooser(std::string_view advisor, const scene::ControllerOptions& options)
    : mode_(config::keeps_programs(advisor) ? scene::SignalMode::kKeepsPrograms
                                            : scene::SignalMode::kTakesOver),
      period_s_(options.period_s) {
  if (mode_ == scene::SignalMode::kTakesOver || advisor == config::kOwnPrograms) {
    return;
  }
  advisor_ = scene::make_controller(advisor, options);
}

void LightChooser::reset(std::uint64_t seed) {
  if (advisor_) advisor_->reset(seed);
}

bool LightChooser::lasts(const scene::SignalBook& book, int light) const {
  return book.phase_left_s(light) >= period_s_ - scene::kTimeTolerance_s;
}

void LightChooser::advise(const scene::SignalView& view) {
  const scene::SignalBook& book = view.book();
  advised_.assign(static_cast<std::size_t>(book.num_lights()), kStay);
  if (!advisor_) {
    for (std::size_t light = 0; light < advised_.size(); ++light) {
      if (!lasts(book, static_cast<int>(light))) advised_[light] = kMoveOn;
    }
    return;
  }
  commands_.clear();
  advisor_->decide_signals(view, commands_);
  for (const scene::SignalCommand& command : commands_) {
    if (command.left_s <= 0.0F) advised_[static_cast<std::size_t>(command.light)] = kMoveOn;
  }
}

void LightChooser::find(const scene::SignalView& view, std::vector<LightChoice>& choices,
                        std::vector<float>& rows) {
  choices.clear();
  rows.clear();
  const bool keeps = mode_ == scene::SignalMode::kKeepsPrograms;
  if (keeps) advise(view);
  const std::size_t columns = scene::signal_features().size();
  for (int light = 0; light < view.book().num_lights(); ++light) {
    const scene::SignalBook& book = view.book();
    if (!book.may_switch(light, period_s_)) continue;
    const std::size_t first = rows.size();
    view.append_features(light, rows);
    choices.push_back({.light = light,
                       .num_greens = static_cast<std::int32_t>((rows.size() - first) / columns),
                       .present = keeps ? static_cast<std::int32_t>(kStay) : book.present(light)});
    if (!keeps) continue;
    const std::size_t advised = advised_[static_cast<std::size_t>(light)];
    scene::mark_advised(std::span(rows).subspan(first + advised * columns, columns));
  }
}

void LightChooser::find_idle(const scene::SignalView& view, std::vector<LightChoice>& idle,
                             std::vector<float>& rows) const {
  idle.clear();
  rows.clear();
  const scene::SignalBook& book = view.book();
  for (int light = 0; light < book.num_lights(); ++light) {
    const auto options = static_cast<std::int32_t>(book.options(light).size());
    if (options < 2 || book.may_switch(light, period_s_)) continue;
    view.append_features(light, rows);
    const bool keeps = mode_ == scene::SignalMode::kKeepsPrograms;
    idle.push_back({.light = light,
                    .num_greens = options,
                    .present = keeps ? static_cast<std::int32_t>(kStay) : book.present(light)});
  }
}

std::span<const scene::SignalCommand> LightChooser::commands(
    const scene::SignalView& view, std::span<const scene::SignalCommand> chosen) {
  if (mode_ == scene::SignalMode::kTakesOver) return chosen;
  const scene::SignalBook& book = view.book();
  commands_.clear();
  for (const scene::SignalCommand& choice : chosen) {
    const bool stays = choice.green == static_cast<std::int32_t>(kStay);
    const bool lasts_anyway = lasts(book, choice.light);
    // The program moves on at the moment that it has planned; a script moves on at once.
    const bool program_does_it = stays ? lasts_anyway : !lasts_anyway && !advisor_;
    if (program_does_it) continue;
    const double left_s = stays ? period_s_ : 0.0;
    commands_.push_back({.light = choice.light, .left_s = static_cast<float>(left_s)});
  }
  return commands_;
}

}  // namespace traffic::rollout
