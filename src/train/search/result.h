/// The result of a search for scripts. It is shown as a table in the log, and stored as JSON that a
/// resumed run reads again.
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
  std::string controller;  ///< text of the script, such as "meter(density=25)"
  std::int64_t seeds = 0;  ///< number of seeds
  double gain = 0;         ///< mean gain in the objective, %
  double half_width = 0;   ///< half the width of the gain's 95 % interval; infinite for one seed
  double ocr_gain = 0;     ///< mean gain in throughput, %
  double delay_gain = 0;   ///< mean gain in delay, %
  /// By how much emergency stops, emergency brakings and collisions per run exceed
  /// evaluation.safety_limit (SelectionEvaluation::safety_excess); 0 if the script is safe.
  double safety_excess = 0;
  double hard_brakes = 0;   ///< mean number of hard brakes per run beyond those without control
  double controlled_s = 0;  ///< vehicle-seconds under control per run

  [[nodiscard]] bool is_safe() const { return safety_excess <= 0.0; }
  /// Standard error of the mean gain; infinite for one seed.
  [[nodiscard]] double standard_error() const;
  /// Lower end of the 95 % interval of the gain.
  [[nodiscard]] double low() const { return gain - half_width; }
  /// Whether the script is safe and the whole interval of the gain lies above 0.
  [[nodiscard]] bool helps() const { return is_safe() && low() > 0.0; }
};

/// Result of the search in one scenario.
struct ScenarioSearch {
  std::string scenario;
  double ocr_all = 0;  ///< mean of EpisodeScore::ocr_all() without control
  double delay_s = 0;  ///< mean of EpisodeScore::delay_s() without control
  /// Share of uncontrolled runs with saturated traffic (scene/score.h). The runs are whole episodes
  /// if the time suffices for them.
  double saturated = 0;
  /// Simulated time of the pieces of episodes that the search compares. 0 means that it compares
  /// whole episodes.
  double piece_s = 0;
  std::int64_t pieces = 0;  ///< number of pieces, which follow each other from the start
  double episode_s = 0;     ///< simulated time of a whole episode; set only if there are pieces
  /// Scripts that the search tried in its rounds, best first. Each round drops the worse scripts
  /// and runs the others on more seeds; scripts dropped in early rounds come last.
  std::vector<TriedScript> tried{};
  /// Scripts of the final comparison, which has seeds of its own.
  std::vector<TriedScript> finalists{};
  std::string best = "none";  ///< the chosen script; "none" if no script helps

  [[nodiscard]] bool is_whole() const { return piece_s <= 0.0; }
  /// Simulated time from the start of an episode from which the pieces are.
  [[nodiscard]] double covered_s() const { return static_cast<double>(pieces) * piece_s; }
  /// Vehicle-seconds under control in a whole episode, extrapolated from pieces if there are any.
  [[nodiscard]] double whole_controlled_s(const TriedScript& script) const;
  /// The chosen script among the finalists; null if no script helps.
  [[nodiscard]] const TriedScript* found() const;
  /// The unsafe script that gains most, if even the lower end of its interval is above the gain of
  /// the chosen script (above 0 if none was chosen). Otherwise null.
  [[nodiscard]] const TriedScript* unsafe_but_better() const;
};

/// Result of the search in all scenarios of a run.
struct SearchResult {
  std::string key;            ///< identifies the scenarios and settings (prepare.cpp)
  std::string objective;      ///< objective of the gains: "ocr" or "delay"
  std::int64_t episodes = 0;  ///< number of episodes in the whole search
  double seconds = 0;         ///< duration of the search
  double episode_s = 0;       ///< real time per whole episode, with all simulations running in
                              ///< parallel; an estimate if the search compared pieces
  std::vector<ScenarioSearch> scenarios{};
};

/// The compared part of the episodes in words: "whole episodes", "the first 600 of 3600 s of
/// episodes" or "5 pieces of 600 s from the first 3000 of 3600 s of episodes".
std::string compared_part(const ScenarioSearch& search);
/// A table with a row for each script. The rows of the final comparison come first.
report::Table search_table(const ScenarioSearch& search);
/// A line of text about the chosen script, such as "merge (...): meter(density=25) gains +5.10 +-
/// 1.00 % of ocr_all on 12 seeds ...". If the search compared pieces, it also says
/// which ones.
std::string search_text(const SearchResult& result, const ScenarioSearch& search);

nlohmann::ordered_json to_json(const SearchResult& result);
/// @throws DataError if the JSON does not come from to_json()
SearchResult search_result_from(const nlohmann::ordered_json& json);

}  // namespace traffic::train
