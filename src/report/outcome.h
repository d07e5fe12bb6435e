/// Reads the result of a run from its files: evaluation, final comparison, prediction errors.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/report/run_reader.h"

namespace traffic::report {

inline constexpr std::string_view kCheckpoint = "checkpoint:";
/// Whether a controller's name is that of a checkpoint, and not of a script.
bool is_checkpoint(const std::string& controller);

/// A number of a row of evaluation.json; 0 if the row does not have it.
double number(const nlohmann::ordered_json& row, const char* name);
bool has_gain(const nlohmann::ordered_json& row);
/// "+4.25 ± 1.25 %"
std::string gain_text(const nlohmann::ordered_json& row);
/// 1 if the interval of the gain is above 0, -1 if it is below, 0 if it contains 0.
int sign_of_gain(const nlohmann::ordered_json& row);

/// The row of the trained controller, which is the last checkpoint; null without one.
const nlohmann::ordered_json* trained_of(const nlohmann::ordered_json& evaluation);
/// The row of the traffic without control; null without one.
const nlohmann::ordered_json* none_of(const nlohmann::ordered_json& evaluation);
/// Whether the gain is a reduction of delay, and not an increase of the traffic that gets through.
bool compares_delay(const nlohmann::ordered_json& evaluation);
/// "10 seeds of merge"
std::string seeds_text(const nlohmann::ordered_json& evaluation);

/// An answer to one question about the trained controller.
struct Verdict {
  std::string_view tone;  ///< CSS class of the card: "good", "warn" or "bad"
  std::string answer;
  std::string meaning;
};

/// Compares the events of a controller with those of the same traffic without control. Accidents
/// must not increase (beyond the interval, if the evaluation has computed one); an increase of
/// hints at danger, such as hard brakes, is a warning.
/// @param none row of the traffic without control; may be null
Verdict safety_of(const nlohmann::ordered_json& row, const nlohmann::ordered_json* none);

/// The result of the last training that was compared with a script; empty without one.
nlohmann::ordered_json final_comparison(const std::vector<RunReader>& parts);
/// Whether the script did better than every policy that was learned from it.
bool keeps_script(const nlohmann::ordered_json& comparison);

/// Errors of predicted positions at the longest horizon.
struct Prediction {
  int frames = 0;  ///< 0: nothing was predicted
  double error_m = 0;
  double constant_velocity_m = 0;
  [[nodiscard]] bool is_better() const {
    return constant_velocity_m > 0 && error_m < constant_velocity_m;
  }
};
Prediction prediction_of(const RunReader& part);

}  // namespace traffic::report
