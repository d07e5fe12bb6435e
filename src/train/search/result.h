/// The result of a search, as a table for the log and as JSON that a resumed run reads again.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/report/paired_statistics.h"
#include "traffic/report/table.h"

namespace traffic::train {

/// A script compared with no control on the same seeds.
struct TriedScript {
  std::string controller;    ///< text of the script, such as "meter(density=25)"
  std::int64_t seeds = 0;    ///< number of seeds
  double gain = 0;           ///< mean gain in the objective, %
  double half_width = 0;     ///< half the width of the gain's 95 % interval
  double ocr_gain = 0;       ///< mean gain in throughput, %
  double delay_gain = 0;     ///< mean gain in delay, %
  double safety_excess = 0;  ///< emergency stops, emergency brakings and collisions per run by
                             ///< which it exceeds evaluation.safety_limit; at most 0 if it is safe
  double hard_brakes = 0;    ///< mean number of hard brakes per run beyond those without control
  double controlled_s = 0;   ///< vehicle-seconds under control per run

  [[nodiscard]] bool is_safe() const { return safety_excess <= 0.0; }
  /// Lower end of the interval of its gain.
  [[nodiscard]] double low() const { return gain - half_width; }
  /// Whether the script is safe and the whole interval of its gain lies above 0.
  [[nodiscard]] bool helps() const { return is_safe() && low() > 0.0; }
};

/// Result of the search in one scenario.
struct ScenarioSearch {
  std::string scenario;
  double ocr_all = 0;  ///< mean without control
  double delay_s = 0;  ///< mean without control
  /// Share of uncontrolled runs with saturated traffic (score.h). The runs are whole episodes if
  /// there is time for them.
  double saturated = 0;
  /// Simulated time from the start of an episode that the search compares, if whole episodes would
  /// take too long; 0: it compares whole episodes.
  double horizon_s = 0;
  double episode_s = 0;                  ///< with a horizon: simulated time of a whole episode
  std::vector<TriedScript> tried{};      ///< best first; scripts dropped in early rounds last
  std::vector<TriedScript> finalists{};  ///< the final comparison, on seeds of its own
  std::string best = "none";             ///< the chosen script; "none" if no script helps

  [[nodiscard]] bool is_whole() const { return horizon_s <= 0.0; }
  /// Vehicle-seconds under control in a whole episode, estimated if episodes were cut.
  [[nodiscard]] double whole_controlled_s(const TriedScript& script) const;
  /// The chosen script among the finalists; null if no script helps.
  [[nodiscard]] const TriedScript* found() const;
  /// The script that gains most among those that are unsafe, if even the lower end of its interval
  /// is above the gain of the chosen script; else null.
  [[nodiscard]] const TriedScript* unsafe_but_better() const;
};

struct SearchResult {
  std::string key;            ///< identifies the scenarios and settings (prepare.cpp)
  std::string objective;      ///< ocr | delay
  std::int64_t episodes = 0;  ///< number of episodes in the whole search
  double seconds = 0;         ///< duration of the search
  double episode_s = 0;       ///< real time per whole episode, with all simulations running in
                              ///< parallel; an estimate if a scenario has a horizon
  std::vector<ScenarioSearch> scenarios{};
};

/// "the whole" or "the first 600 of 3600 s"
std::string part_of_episode(const ScenarioSearch& search);
/// A row for each script, with the final comparison on top.
report::Table search_table(const ScenarioSearch& search);
/// A line of text: "merge: meter(density=25) gains +5.1 +- 1.0 % of ocr_all on 12 seeds ...". It
/// says which part of the episodes was compared.
std::string search_text(const SearchResult& result, const ScenarioSearch& search);

nlohmann::ordered_json to_json(const SearchResult& result);
/// @throws DataError if the JSON does not come from to_json()
SearchResult search_result_from(const nlohmann::ordered_json& json);

}  // namespace traffic::train
