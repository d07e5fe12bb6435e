#include "search/scripts.h"

#include <fmt/format.h>

#include <algorithm>

namespace traffic::train {
namespace {

/// Texts of scripts of one kind with different parameters, the most promising first.
using Variants = std::vector<std::string>;

Variants meters() {
  Variants texts{"meter(density=30)"};
  for (const int to_m : {60, 100}) {
    for (const int density : {30, 25, 20, 40, 15}) {
      texts.push_back(to_m == 60 ? fmt::format("meter(density={})", density)
                                 : fmt::format("meter(density={}, to_m={})", density, to_m));
    }
  }
  texts.emplace_back("meter(density=25, speed_mps=3)");
  return texts;
}

// In the following functions, `tops` are values for the parameter `top`, the maximum number of
// vehicles under control at once.

/// Scripts that meter traffic farther upstream, while the traffic before the stop lines is dense.
Variants upstream_meters(const std::vector<int>& tops) {
  Variants texts;
  for (const int top : tops) {
    for (const int density : {25, 30, 20}) {
      for (const int from_m : {250, 100}) {
        texts.push_back(fmt::format("meter(before=1, density={}, from_m={}, to_m={}, top={})",
                                    density, from_m, 2 * from_m, top));
      }
    }
  }
  return texts;
}

/// Variable speed limits (vsl). The list has low limits for the leftmost lane, if there are several
/// lanes, and higher limits for all lanes.
/// @param inner whether there are several lanes
Variants speed_limits(bool inner, const std::vector<int>& tops) {
  Variants texts;
  for (const int top : tops) {
    if (inner) {
      for (const int density : {30, 35, 25}) {
        for (const int speed_mps : {6, 4, 9}) {
          texts.push_back(
              fmt::format("vsl(density={}, speed_mps={}, top={})", density, speed_mps, top));
        }
      }
    }
    for (const int density : {25, 30}) {
      for (const int speed_mps : {12, 9}) {
        texts.push_back(
            fmt::format("vsl(density={}, inner=0, speed_mps={}, top={})", density, speed_mps, top));
      }
    }
  }
  return texts;
}

/// Scripts that make vehicles with priority let waiting vehicles in. Some variants decide only
/// every 3 s, because a vehicle that stops for a moment and drives on hinders both streams.
Variants let_ins(const std::vector<int>& tops) {
  Variants texts;
  for (const int top : tops) {
    for (const char* period : {"", "period_s=3, "}) {
      for (const int to_m : {100, 60}) {
        for (const int queue : {6, 10, 16}) {
          texts.push_back(
              fmt::format("let_in({}queue={}, to_m={}, top={})", period, queue, to_m, top));
        }
      }
    }
  }
  return texts;
}

Variants yields(const std::vector<int>& tops) {
  Variants texts;
  for (const int top : tops) {
    for (const int lead_s : {12, 0, 5, 20}) {
      for (const int to_m : {200, 100}) {
        texts.push_back(fmt::format("yield(lead_s={}, to_m={}, top={})", lead_s, to_m, top));
      }
    }
  }
  return texts;
}

Variants sorts(const std::vector<int>& tops) {
  Variants texts;
  for (const int top : tops) {
    for (const int to_m : {500, 250, 1000})
      texts.push_back(fmt::format("sort(to_m={}, top={})", to_m, top));
    texts.push_back(fmt::format("sort(through=0, to_m=500, top={})", top));
    texts.push_back(fmt::format("sort(balance=0.5, to_m=500, top={})", top));
  }
  return texts;
}

Variants brisks(const std::vector<int>& tops) {
  Variants texts;
  for (const int to_m : {100, 20, 300}) {
    for (const int top : tops) texts.push_back(fmt::format("brisk(to_m={}, top={})", to_m, top));
  }
  return texts;
}

Variants glides(const std::vector<int>& tops) {
  Variants texts;
  for (const int to_m : {100, 200}) {
    for (const int top : tops) {
      texts.push_back(fmt::format("glide(brisk_m=400, to_m={}, top={})", to_m, top));
    }
  }
  return texts;
}

/// Scripts of traffic lights: one kind keeps the lights' own programs, the others replace them.
std::vector<Variants> light_scripts() {
  Variants retimes;
  for (const int weight : {3, 2, 5}) {
    for (const int period_s : {1, 2, 5}) {
      retimes.push_back(fmt::format("retime(period_s={}, weight={})", period_s, weight));
    }
  }
  return {retimes,
          {"greedy", "greedy(period_s=10)"},
          {"max_pressure", "max_pressure(period_s=10)"},
          {"actuated", "actuated(max_s=30)"}};
}

std::vector<Variants> vehicle_scripts(const sim::NetworkStudy& study,
                                      const config::Config& config) {
  const auto& decides = config.search.decides;
  const bool free = std::ranges::find(decides, "vehicles.top_k") != decides.end();
  const int own = static_cast<int>(config.vehicles.top_k);
  const auto tops = [&](std::vector<int> wanted) { return free ? wanted : std::vector<int>{own}; };
  std::vector<Variants> kinds;
  if (sim::can_meter(study)) {
    kinds.push_back(meters());
    kinds.push_back(upstream_meters(tops({50})));
  }
  if (sim::can_limit_speed(study, 1)) {
    kinds.push_back(speed_limits(sim::can_limit_speed(study, 2), tops({50})));
  }
  if (sim::can_let_in(study)) kinds.push_back(let_ins(tops({50})));
  if (sim::can_yield(study)) kinds.push_back(yields(tops({10, 30})));
  if (sim::can_sort(study) && !config.vehicles.lane_change) kinds.push_back(sorts(tops({50})));
  kinds.push_back(brisks(tops({50, 10, 200})));
  if (study.lights > 0) kinds.push_back(glides(tops({50, 200})));
  return kinds;
}

}  // namespace

ScriptsToTry scripts_to_try(const sim::NetworkStudy& study, const config::Config& config) {
  const std::vector<Variants> kinds =
      config.env.vehicles_act() ? vehicle_scripts(study, config) : light_scripts();
  ScriptsToTry tried{.texts = {},
                     .kinds = kinds.size(),
                     .step_length_s = study.step_length_s,
                     .episode_s = sim::duration_s(study, config.env).value_or(0.0)};
  std::size_t longest = 0;
  for (const Variants& variants : kinds) longest = std::max(longest, variants.size());
  for (std::size_t i = 0; i < longest; ++i) {
    for (const Variants& variants : kinds) {
      if (i >= variants.size()) continue;
      if (std::ranges::find(tried.texts, variants[i]) == tried.texts.end()) {
        tried.texts.push_back(variants[i]);
      }
    }
  }
  return tried;
}

}  // namespace traffic::train
