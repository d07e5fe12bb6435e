#include "search/prepare.h"

#include <spdlog/spdlog.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rollouts/baseline.h"
#include "rollouts/network_check.h"
#include "run/together.h"
#include "search/decide.h"
#include "search/result.h"
#include "search/scripts.h"
#include "search/searcher.h"
#include "traffic/config/load.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/text.h"
#include "traffic/report/json_file.h"
#include "traffic/report/run_folder.h"
#include "traffic/sim/network_study.h"

namespace traffic::train {
namespace {

using Json = nlohmann::ordered_json;

/// For each scenario of a configuration, the scripts that the search tries and the properties of
/// the scenario.
struct Ground {
  std::vector<ScriptsToTry> scripts;
  std::vector<ScenarioFacts> facts;
};

/// Mean speed limit of the approaches of conflicts, weighted by their numbers of vehicles; 0 if
/// there are no approaches.
double speed_limit_mps(const sim::NetworkStudy& study) {
  // Small weight for approaches whose number of vehicles is unknown.
  constexpr double kUnknown = 1e-3;
  double sum = 0.0;
  double vehicles = 0.0;
  for (const sim::ConflictStudy& conflict : study.conflicts) {
    for (const sim::ApproachStudy& approach : conflict.approaches) {
      sum += (approach.vehicles + kUnknown) * approach.speed_limit_mps;
      vehicles += approach.vehicles + kUnknown;
    }
  }
  return vehicles > 0.0 ? sum / vehicles : 0.0;
}

Ground survey(const config::Config& config) {
  Ground ground;
  for (const config::ScenarioShare& part : config::scenario_mix(config.env)) {
    const sim::NetworkStudy study = sim::study_network(config.env, part.scenario);
    ground.scripts.push_back(scripts_to_try(study, config));
    ground.facts.push_back({.duration_s = sim::duration_s(study, config.env).value_or(0.0),
                            .step_length_s = study.step_length_s,
                            .speed_limit_mps = speed_limit_mps(study)});
  }
  return ground;
}

/// Identifies a search: a hash of the scenarios' files and of the settings that it depends on.
std::string search_key(const config::Config& config) {
  Hasher hasher;
  config::Config of_scenario = config;
  for (const config::ScenarioShare& part : config::scenario_mix(config.env)) {
    of_scenario.env.scenario = part.scenario;
    hasher.update(baseline_key(of_scenario));
  }
  for (const auto& [key, value] : config::flatten(config)) {
    if (key.starts_with("env.") || key.starts_with("search.") || key == "vehicles.top_k" ||
        key == "evaluation.safety_limit") {
      hasher.update(key + "=" + value + "\n");
    }
  }
  return hex64(hasher.digest());
}

/// Reads the result of the search with this key from search.json. The file may also contain
/// searches of other trainings of the run.
std::optional<Json> read_kept(const std::filesystem::path& path, const std::string& key) {
  const auto file = report::read_json_file(path);
  if (!file || !file->contains("searches")) return std::nullopt;
  for (const Json& one : (*file)["searches"]) {
    if (one.value("key", "") == key) return one;
  }
  return std::nullopt;
}

void keep(const SearchResult& result, const std::filesystem::path& path) {
  Json file{{"searches", Json::array()}};
  try {
    if (const auto known = report::read_json_file(path)) file = *known;
  } catch (const DataError& error) {
    spdlog::warn("{}; the file is replaced by a new one", error.what());
  }
  file["searches"].push_back(to_json(result));
  write_file_atomically(path, file.dump(2) + "\n");
}

/// Collective. Reads the result of the search that an earlier start of this run has stored.
/// @return the result, equal on all ranks; nothing if it is missing or cannot be read
std::optional<SearchResult> find_kept(const Preparation& on, const std::filesystem::path& path,
                                      const std::string& key) {
  std::string text;
  together(on.communicator, [&] {
    if (on.communicator.rank() != 0) return;
    try {
      if (const auto kept = read_kept(path, key)) {
        search_result_from(*kept);
        text = kept->dump();
      }
    } catch (const DataError& error) {
      spdlog::warn("{}; the search is repeated", error.what());
    }
  });
  text = on.communicator.broadcast_string(text, 0);
  if (text.empty()) return std::nullopt;
  return search_result_from(Json::parse(text));
}

void log_result(const SearchResult& result) {
  for (const ScenarioSearch& search : result.scenarios) {
    spdlog::info("search: scripts that were tried in {}, compared in {}:\n{}", search.scenario,
                 compared_part(search), search_table(search).to_text());
    spdlog::info("search: {}", search_text(result, search));
  }
}

/// Logs a line for every key whose value has changed.
void log_changes(const config::Config& before, const config::Config& after) {
  const auto old = config::flatten(before);
  for (const auto& [key, value] : config::flatten(after)) {
    if (old.at(key) != value) spdlog::info("search: {} = {} (was {})", key, value, old.at(key));
  }
}

}  // namespace

TrainingEnd search_and_decide(const Preparation& on) {
  if (on.config.search.minutes <= 0 && on.config.search.episodes == 0) return TrainingEnd::kDone;
  const bool logs = on.communicator.rank() == 0;
  if (on.dry_run) {
    if (logs) spdlog::info("dry run: the search is left out");
    if (on.config.env.objective == "auto") on.config.env.objective = "ocr";
    return TrainingEnd::kDone;
  }
  Ground ground;
  std::string key;
  together(on.communicator, [&] {
    ground = survey(on.config);
    key = search_key(on.config);
  });
  const std::filesystem::path path = report::RunFolder(on.dir).search();
  std::optional<SearchResult> result = find_kept(on, path, key);
  if (result && logs) spdlog::info("search: using the result kept in {}", path.string());
  if (!result) {
    result = Searcher(on.config, on.session, on.communicator).run(ground.scripts);
    if (!result) {
      if (logs) spdlog::info("search: stopped; a resumed run searches from the beginning");
      return TrainingEnd::kStopped;
    }
    result->key = key;
    together(on.communicator, [&] {
      if (logs) keep(*result, path);
    });
    if (logs) {
      spdlog::info("search: ran {} episodes in {}", result->episodes,
                   human_duration(result->seconds));
    }
  }
  if (logs) log_result(*result);
  config::Config decided = on.config;
  decide(*result, ground.facts, decided);
  // Checks the settings as if they came from a file, because they may contradict keys that the user
  // has set.
  decided = config::parse_stored_config(config::to_toml(decided),
                                        "the settings that follow from the search");
  if (logs) log_changes(on.config, decided);
  on.config = decided;
  return TrainingEnd::kDone;
}

TrainingEnd look_and_search(const Preparation& preparation) {
  look_at_networks_together(preparation.config, preparation.communicator);
  const TrainingEnd end = search_and_decide(preparation);
  if (end == TrainingEnd::kDone) {
    look_at_networks_together(preparation.config, preparation.communicator);
  }
  return end;
}

}  // namespace traffic::train
