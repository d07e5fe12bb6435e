#include "run/seed_overlap.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>

#include "traffic/config/scenario_mix.h"
#include "traffic/config/seeds.h"
#include "traffic/core/error.h"
#include "traffic/data/dataset.h"

namespace traffic::train {
namespace {

using Seeds = std::set<std::uint64_t>;

/// Seeds of the recorded episodes of each scenario, by the scenario's name in the recordings.
std::map<std::string, Seeds> recorded_seeds(const config::Plan& plan) {
  std::map<std::string, Seeds> seeds;
  for (const config::Config& phase : plan.phases) {
    if (phase.data.files.empty()) continue;
    try {
      for (const auto& file : data::open_data_files(phase.data).files) {
        for (const data::Episode& episode : file->episodes()) {
          seeds[file->info().scenario].insert(episode.seed);
        }
      }
    } catch (const Error&) {  // a training that reads the files reports the error
    }
  }
  return seeds;
}

std::map<std::string, Seeds> evaluated_seeds(const config::Plan& plan) {
  std::map<std::string, Seeds> seeds;
  for (const config::Config& phase : plan.phases) {
    if (phase.evaluation.seeds.empty()) continue;
    const auto list = config::read_seeds(phase.evaluation.seeds).seeds;
    for (const config::ScenarioShare& part : config::scenario_mix(phase.env)) {
      seeds[config::scenario_name(part.scenario)].insert(list.begin(), list.end());
    }
  }
  return seeds;
}

}  // namespace

std::vector<std::string> find_seed_overlaps(const config::Plan& plan) {
  const auto recorded = recorded_seeds(plan);
  std::vector<std::string> warnings;
  for (const auto& [scenario, seeds] : evaluated_seeds(plan)) {
    const auto found = recorded.find(scenario);
    if (found == recorded.end()) continue;
    std::vector<std::uint64_t> both;
    std::ranges::set_intersection(seeds, found->second, std::back_inserter(both));
    if (both.empty()) continue;
    warnings.push_back(fmt::format(
        "{} of {} seeds of evaluation.seeds are recorded in data.files, too (scenario {}, the "
        "first is {}): a world model that is trained on these files knows the traffic of the "
        "evaluation; choose other evaluation.seeds, or record with other --seeds (the default "
        "seeds of data_prep are used for nothing else)",
        both.size(), seeds.size(), scenario, both.front()));
  }
  return warnings;
}

}  // namespace traffic::train
