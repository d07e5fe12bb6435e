#include "traffic/scene/signal_plan.h"

#include <algorithm>

#include "index.h"

namespace traffic::scene {
namespace {

/// Letters of a phase that leads from one green to another, or of a light that is off.
bool is_passing(char state) {
  return state == 'y' || state == 'Y' || state == 'u' || state == 'o' || state == 'O';
}

}  // namespace

bool is_green(char state) { return state == 'G' || state == 'g'; }

SignalPlan::SignalPlan(std::span<const SignalPhase> phases) {
  for (const SignalPhase& phase : phases) {
    const std::string& state = phase.state;
    if (std::any_of(state.begin(), state.end(), is_passing) || find(state) >= 0) continue;
    SignalGreen green{.state = state, .links = {}};
    for (std::size_t link = 0; link < state.size(); ++link) {
      if (is_green(state[link])) green.links.push_back(static_cast<int>(link));
    }
    if (!green.links.empty()) greens_.push_back(std::move(green));
  }
}

int SignalPlan::find(std::string_view state) const {
  const auto found = std::find_if(greens_.begin(), greens_.end(),
                                  [&](const SignalGreen& green) { return green.state == state; });
  return found == greens_.end() ? -1 : static_cast<int>(found - greens_.begin());
}

bool SignalPlan::needs_yellow(int from, int to) const {
  const std::string& before = at(greens_, from).state;
  const std::string& after = at(greens_, to).state;
  for (std::size_t link = 0; link < before.size(); ++link) {
    const bool loses_green = is_green(before[link]) && !is_green(after[link]);
    if (loses_green || (before[link] == 'G' && after[link] == 'g')) return true;
  }
  return false;
}

std::string SignalPlan::yellow(int from, int to) const { return between(from, to, 'y'); }
std::string SignalPlan::all_red(int from, int to) const { return between(from, to, 'r'); }

std::string SignalPlan::between(int from, int to, char lost) const {
  std::string shown = at(greens_, from).state;
  const std::string& after = at(greens_, to).state;
  for (std::size_t link = 0; link < shown.size(); ++link) {
    if (is_green(shown[link])) {
      if (!is_green(after[link])) shown[link] = lost;
      if (after[link] == 'g') shown[link] = 'g';
    } else if (shown[link] == 's' && after[link] == 'r') {
      shown[link] = 'r';  // who has it stops anyhow
    }
  }
  return shown;
}

}  // namespace traffic::scene
