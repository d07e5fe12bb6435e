/// Extracts the results of a run from its JSON files: evaluation, final comparison with a script,
/// and prediction errors. first_screen.h shows them at the top of a report.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

/// Begin of the name of a controller that is a checkpoint.
inline constexpr std::string_view kCheckpoint = "checkpoint:";
/// Whether a controller is a checkpoint ("checkpoint:PATH") and not a script.
bool is_checkpoint(const std::string& controller);

/// A number of a row of evaluation.json, which describes one controller; 0 if it is missing.
double number(const nlohmann::ordered_json& row, const char* name);
/// Whether the row has a gain, i.e. the improvement over no control.
bool has_gain(const nlohmann::ordered_json& row);
/// The gain with its interval, e.g. "+4.25 ± 1.25 %".
std::string gain_text(const nlohmann::ordered_json& row);
/// 1 if the whole confidence interval of the gain is above 0, and -1 if it is below 0. 0 if the
/// interval contains 0 or there is no interval.
int sign_of_gain(const nlohmann::ordered_json& row);

/// The row of the trained controller: the last row whose controller is a checkpoint. Null if there
/// is no such row.
const nlohmann::ordered_json* trained_of(const nlohmann::ordered_json& evaluation);
/// The row of the traffic without control (controller "none"). Null if there is no such row.
const nlohmann::ordered_json* none_of(const nlohmann::ordered_json& evaluation);
/// The cost that the gain reduces, in words, such as "delay". Empty if the objective is not a
/// single cost.
std::string compared_cost(const nlohmann::ordered_json& evaluation);
/// The objective if it is a weighted sum, such as "0.75*delay_s+0.25*co2_g_per_km"; otherwise
/// empty.
std::string weighted_scores(const nlohmann::ordered_json& evaluation);
/// The seeds in words, e.g. "10 seeds of merge".
std::string seeds_text(const nlohmann::ordered_json& evaluation);

/// The content of one card (a box on one subject) of the report.
struct Verdict {
  std::string_view tone;  ///< CSS class of the card: "good", "warn" or "bad"
  std::string answer;     ///< a number or a few words
  std::string meaning;    ///< a line that explains the answer
};

/// Compares the dangerous events under a controller with those of the same traffic without control.
/// If accidents (collisions, emergency stops and brakings, teleports) have increased, the verdict
/// depends on whether the row calls the controller safe (`safe`). If it does, the increase of
/// collisions and emergency stops is not significant, and the verdict is "warn". Otherwise it is
/// "bad". If accidents have not increased, the verdict is "warn" if hints at danger, such as hard
/// brakes, have increased by more than 10 %, and otherwise "good".
/// @param none row of the traffic without control; null if the evaluation has no such row, and
///   accidents are then compared with 0
Verdict safety_of(const nlohmann::ordered_json& row, const nlohmann::ordered_json* none);

/// The final comparison of a policy with a script: the object `result` in summary.json of the last
/// training that ended with such a comparison. Empty if none did.
nlohmann::ordered_json final_comparison(const std::vector<RunReader>& parts);
/// Whether the run hands over the script, because the final comparison preferred it to the policy.
bool keeps_script(const nlohmann::ordered_json& comparison);

/// Errors of the positions that the world model predicts, at the longest horizon.
struct Prediction {
  int frames = 0;                  ///< the horizon; 0 if nothing was predicted
  double error_m = 0;              ///< error of the world model
  double constant_velocity_m = 0;  ///< error if vehicles are assumed to keep their velocity
  [[nodiscard]] bool is_better() const {
    return constant_velocity_m > 0 && error_m < constant_velocity_m;
  }
};
Prediction prediction_of(const RunReader& part);

}  // namespace traffic::report
