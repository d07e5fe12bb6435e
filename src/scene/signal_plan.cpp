// Derives the greens of a traffic light, and the transitions between them, from its program.
#include "traffic/scene/signal_plan.h"

#include <algorithm>
#include <array>
#include <set>
#include <sstream>
#include <utility>

#include "index.h"

namespace traffic::scene {
namespace {

/// Whether a letter belongs to a transition between two greens, or to a light that is off.
bool is_passing(char state) {
  return state == 'y' || state == 'Y' || state == 'u' || state == 'o' || state == 'O';
}

/// Links that show the same letter in every phase.
std::vector<bool> constant_links(std::span<const SignalPhase> phases) {
  std::vector<bool> constant(phases.empty() ? 0 : phases.front().state.size(), true);
  for (const SignalPhase& phase : phases) {
    for (std::size_t link = 0; link < std::min(constant.size(), phase.state.size()); ++link) {
      if (phase.state[link] != phases.front().state[link]) constant[link] = false;
    }
  }
  return constant;
}

SignalGreen green_links(const std::string& state) {
  SignalGreen green{.state = state, .links = {}};
  for (std::size_t link = 0; link < state.size(); ++link) {
    if (is_green(state[link])) green.links.push_back(static_cast<int>(link));
  }
  return green;
}

/// Phase numbers in a parameter such as "0,2,0,4"; 0 stands for a phase that the program leaves
/// out.
std::vector<std::string> numbers_in(const SignalLogic& logic, const char* parameter) {
  const auto found = logic.parameters.find(parameter);
  if (found == logic.parameters.end()) return {};
  std::string text = found->second;
  std::replace(text.begin(), text.end(), ',', ' ');
  std::istringstream words(text);
  std::vector<std::string> numbers;
  for (std::string word; words >> word;) {
    if (word != "0") numbers.push_back(word);
  }
  return numbers;
}

/// The two parts of a ring of a NEMA program: the phases before the first barrier, and those
/// between the first and the second barrier.
using RingParts = std::array<std::vector<const SignalPhase*>, 2>;

RingParts parts_of_ring(const SignalLogic& logic, const char* ring,
                        const std::array<std::set<std::string>, 2>& barriers) {
  RingParts parts;
  std::vector<const SignalPhase*> before;
  for (const std::string& number : numbers_in(logic, ring)) {
    const auto phase =
        std::ranges::find_if(logic.phases, [&](const auto& one) { return one.name == number; });
    if (phase != logic.phases.end()) before.push_back(&*phase);
    for (std::size_t barrier = 0; barrier < barriers.size(); ++barrier) {
      if (barriers[barrier].contains(number)) parts[barrier] = std::exchange(before, {});
    }
  }
  return parts;
}

/// Joins the states of two rings: each link gets the letter with the higher priority.
std::string together(const std::string& one, const std::string& other) {
  constexpr std::string_view kHighestFirst = "Ggs";
  std::string state = one;
  for (std::size_t link = 0; link < std::min(one.size(), other.size()); ++link) {
    if (kHighestFirst.find(other[link]) < kHighestFirst.find(one[link])) state[link] = other[link];
  }
  return state;
}

}  // namespace

std::vector<SignalPhase> combine_rings(const SignalLogic& logic) {
  std::array<std::set<std::string>, 2> barriers;
  for (const auto& number : numbers_in(logic, "barrierPhases")) barriers[0].insert(number);
  for (const char* name : {"barrier2Phases", "coordinatePhases"}) {
    for (const auto& number : numbers_in(logic, name)) barriers[1].insert(number);
  }
  const RingParts first = parts_of_ring(logic, "ring1", barriers);
  const RingParts second = parts_of_ring(logic, "ring2", barriers);
  std::vector<SignalPhase> phases;
  for (const std::size_t part : {1U, 0U}) {
    if (second[part].empty() || first[part].empty()) {  // only one ring has phases here
      for (const auto* phase : first[part].empty() ? second[part] : first[part]) {
        phases.push_back(*phase);
      }
      continue;
    }
    for (const auto* one : first[part]) {
      for (const auto* other : second[part]) {
        phases.push_back({.duration_s = std::min(one->duration_s, other->duration_s),
                          .state = together(one->state, other->state)});
      }
    }
  }
  return phases;
}

bool is_green(char state) { return state == 'G' || state == 'g'; }

SignalPlan::SignalPlan(const SignalLogic& logic)
    : SignalPlan(logic.has_rings() ? combine_rings(logic) : logic.phases) {}

SignalPlan::SignalPlan(std::span<const SignalPhase> phases)
    : phases_(phases.begin(), phases.end()) {
  const std::vector<bool> constant = constant_links(phases);
  for (const SignalPhase& phase : phases) {
    const std::string& state = phase.state;
    phase_greens_.push_back(green_links(state));
    bool passing = false;
    for (std::size_t link = 0; link < state.size(); ++link) {
      passing |= is_passing(state[link]) && !(link < constant.size() && constant[link]);
    }
    if (passing || find(state) >= 0) continue;
    if (!phase_greens_.back().links.empty()) greens_.push_back(phase_greens_.back());
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

SignalPhase SignalPlan::with_limits(int phase, double share) const {
  SignalPhase limited = at(phases_, phase);
  const bool is_fixed =
      std::ranges::none_of(phases_, [](const SignalPhase& one) { return one.max_s > one.min_s; });
  constexpr double kLong_s = 10.0;
  const bool shows_green =
      !green_of(phase).links.empty() && std::ranges::none_of(limited.state, is_passing);
  if (is_fixed && shows_green && limited.duration_s >= kLong_s) {
    limited.min_s = (1.0 - share) * limited.duration_s;
    limited.max_s = (1.0 + share) * limited.duration_s;
  }
  return limited;
}

const SignalGreen& SignalPlan::green_of(int phase) const { return at(phase_greens_, phase); }

int SignalPlan::next_green(int phase) const {
  const std::string& shown = at(phases_, phase).state;
  const int phases = static_cast<int>(phases_.size());
  for (int step = 1; step < phases; ++step) {
    const int later = (phase + step) % phases;
    const auto& links = green_of(later).links;
    if (std::ranges::any_of(links, [&](int link) { return !is_green(at(shown, link)); })) {
      return later;
    }
  }
  return -1;
}

std::string SignalPlan::between(int from, int to, char lost) const {
  std::string shown = at(greens_, from).state;
  const std::string& after = at(greens_, to).state;
  for (std::size_t link = 0; link < shown.size(); ++link) {
    if (is_green(shown[link])) {
      if (!is_green(after[link])) shown[link] = lost;
      if (after[link] == 'g') shown[link] = 'g';
    } else if (shown[link] == 's' && after[link] == 'r') {
      shown[link] = 'r';  // no yellow needed: at s (right on red) vehicles stop before they drive
    }
  }
  return shown;
}

}  // namespace traffic::scene
