/// What a search came to: its table for people, and JSON to be kept and read again.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/report/paired_statistics.h"
#include "traffic/report/table.h"

namespace traffic::train {

/// A script on seeds that it shares with no control.
struct TriedScript {
  std::string controller;  ///< its text
  std::int64_t seeds = 0;
  double gain = 0;           ///< of the objective, %
  double half_width = 0;     ///< of its 95 % interval
  double ocr_gain = 0;       ///< %
  double delay_gain = 0;     ///< %
  double safety_excess = 0;  ///< emergency stops, emergency brakings, collisions over the limit
  double hard_brakes = 0;    ///< a run, more than without control
  double controlled_s = 0;   ///< vehicle-seconds under control, a run

  [[nodiscard]] bool is_safe() const { return safety_excess <= 0.0; }
  /// Lower end of the interval of its gain.
  [[nodiscard]] double low() const { return gain - half_width; }
  /// Its gain is above none beyond the interval, and it is safe.
  [[nodiscard]] bool helps() const { return is_safe() && low() > 0.0; }
};

struct ScenarioSearch {
  std::string scenario;
  double ocr_all = 0;                    ///< without control
  double delay_s = 0;                    ///< likewise
  double saturated = 0;                  ///< share of the uncontrolled runs that were
  std::vector<TriedScript> tried{};      ///< the best first, those that were dropped earlier last
  std::vector<TriedScript> finalists{};  ///< once more, on seeds of their own
  std::string best = "none";

  /// The best of the finalists; null when it is none.
  [[nodiscard]] const TriedScript* found() const;
};

struct SearchResult {
  std::string key;            ///< of what it was searched for (search_key)
  std::string objective;      ///< ocr | delay
  std::int64_t episodes = 0;  ///< in all
  double seconds = 0;
  double episode_s = 0;  ///< of real time, with as many at once as there are simulations
  std::vector<ScenarioSearch> scenarios{};
};

/// A row for each script, with the final comparison on top.
report::Table search_table(const ScenarioSearch& search);
/// "merge: meter(density=25) gains +5.1 +- 1.0 % of ocr_all on 12 seeds ..."
std::string search_text(const SearchResult& result, const ScenarioSearch& search);

nlohmann::ordered_json to_json(const SearchResult& result);
/// @throws DataError if it is not what to_json() writes
SearchResult search_result_from(const nlohmann::ordered_json& json);

}  // namespace traffic::train
