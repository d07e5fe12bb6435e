// SignalProgram, which predicts when the links of a traffic light get or lose their green.
#include "traffic/scene/signal.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::scene {

bool may_drive(char state) {
  return state == 'G' || state == 'g' || state == 's' || state == 'o' || state == 'O';
}

SignalProgram::SignalProgram(std::vector<SignalPhase> phases) : phases_(std::move(phases)) {
  TRAFFIC_CHECK(!phases_.empty(),
                "the program of a traffic light has no phases, expected at least one: look at its "
                "<tlLogic>");
  const std::size_t links = phases_.front().state.size();
  for (const auto& phase : phases_) {
    TRAFFIC_CHECK(phase.state.size() == links,
                  "phases '{}' and '{}' have different numbers of links", phases_.front().state,
                  phase.state);
    start_s_.push_back(cycle_s_);
    cycle_s_ += phase.duration_s;
  }
  const std::size_t n = phases_.size();
  after_end_s_.assign(n, std::vector<double>(links, kSignalHorizonS));
  green_end_s_ = after_end_s_;
  for (std::size_t p = 0; p < n; ++p)
    for (std::size_t link = 0; link < links; ++link) {
      const bool now = may_drive(phases_[p].state[link]);
      after_end_s_[p][link] = first_after(p, link, !now);
      green_end_s_[p][link] = now ? after_end_s_[p][link] : green_ends_after(p, link);
    }
}

/// Time from the end of phase p until the link may drive (or, with `drives` false, has to stop);
/// kSignalHorizonS if that never happens.
double SignalProgram::first_after(std::size_t p, std::size_t link, bool drives) const {
  double after = 0;
  for (std::size_t step = 1; step < phases_.size(); ++step) {
    const SignalPhase& later = phases_[(p + step) % phases_.size()];
    if (may_drive(later.state[link]) == drives) return std::min(after, kSignalHorizonS);
    after += later.duration_s;
  }
  return kSignalHorizonS;
}

/// Time from the end of phase p, in which the link is red, to the end of its next green.
double SignalProgram::green_ends_after(std::size_t p, std::size_t link) const {
  double after = 0;
  bool green = false;
  for (std::size_t step = 1; step <= phases_.size(); ++step) {
    const SignalPhase& later = phases_[(p + step) % phases_.size()];
    const bool drives = may_drive(later.state[link]);
    if (green && !drives) return std::min(after, kSignalHorizonS);
    green |= drives;
    after += later.duration_s;
  }
  return kSignalHorizonS;
}

LightState SignalProgram::at(int phase, double left_s) const {
  const auto p = static_cast<std::size_t>(std::clamp(phase, 0, num_phases() - 1));
  LightState light;
  light.state = phases_[p].state;
  light.phase = static_cast<int>(p);
  light.phase_left_s = std::max(left_s, 0.0);
  if (cycle_s_ > 0) {
    const double elapsed = start_s_[p] + phases_[p].duration_s - left_s;
    light.cycle_position = std::clamp(elapsed / cycle_s_, 0.0, 1.0);
  }
  light.change_s = after_end_s_[p];
  light.green_end_s = green_end_s_[p];
  for (auto* times : {&light.change_s, &light.green_end_s})
    for (double& s : *times) s = std::min(s + std::max(left_s, 0.0), kSignalHorizonS);
  return light;
}

}  // namespace traffic::scene
