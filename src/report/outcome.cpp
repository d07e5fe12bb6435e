// Extracts the results of a run from its JSON files (outcome.h).
#include "outcome.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace traffic::report {

using Json = nlohmann::ordered_json;

double number(const Json& row, const char* name) {
  return row.contains(name) && row[name].is_number() ? row[name].get<double>() : 0.0;
}

bool has_gain(const Json& row) { return row.contains("gain_%") && row["gain_%"].is_number(); }

std::string gain_text(const Json& row) {
  const bool has_interval = row.contains("+-95%") && row["+-95%"].is_number();
  return has_interval
             ? fmt::format("{:+.2f} ± {:.2f} %", number(row, "gain_%"), number(row, "+-95%"))
             : fmt::format("{:+.2f} %", number(row, "gain_%"));
}

bool is_checkpoint(const std::string& controller) { return controller.starts_with(kCheckpoint); }

const Json* trained_of(const Json& evaluation) {
  const Json* trained = nullptr;
  for (const Json& row : evaluation["controllers"]) {
    if (is_checkpoint(row.value("controller", ""))) trained = &row;
  }
  return trained;
}

const Json* none_of(const Json& evaluation) {
  for (const Json& row : evaluation["controllers"]) {
    if (row.value("controller", "") == "none") return &row;
  }
  return nullptr;
}

int sign_of_gain(const Json& row) {
  const double gain = number(row, "gain_%");
  const double width = number(row, "+-95%");
  if (width <= 0 || std::abs(gain) <= width) return 0;
  return gain > 0 ? 1 : -1;
}

std::string compared_cost(const Json& evaluation) {
  const std::string objective = evaluation.value("objective", "");
  if (objective == "delay_s") return "delay";
  if (objective == "co2_g_per_km") return "CO2 per kilometre";
  if (objective == "electricity_wh_per_km") return "electric energy per kilometre";
  return "";
}

std::string weighted_scores(const Json& evaluation) {
  const std::string objective = evaluation.value("objective", "");
  return objective.find('+') == std::string::npos ? "" : objective;
}

std::string seeds_text(const Json& evaluation) {
  const std::size_t count = evaluation.value("seeds", Json::array()).size();
  return fmt::format("{} {} of {}", count, count == 1 ? "seed" : "seeds",
                     evaluation.value("scenario", ""));
}

Verdict safety_of(const Json& row, const Json* none) {
  using Event = std::pair<const char*, const char*>;
  constexpr std::array<Event, 4> kHarm{Event{"collisions", "collisions"},
                                       {"emergency_stops", "emergency stops"},
                                       {"emergency_brakes", "emergency brakings"},
                                       {"teleports", "teleports"}};
  constexpr std::array<Event, 2> kHints{Event{"hard_brakes", "hard brakes"},
                                        {"unsafe_steps", "unsafe vehicle-steps"}};
  const auto digits = [](double value) {
    return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  };
  const auto beside = [&](const Event& event) {
    const std::string count = digits(number(row, event.first)) + " " + event.second;
    return none ? fmt::format("{} ({} without control)", count, digits(number(*none, event.first)))
                : count;
  };
  std::string worse;
  std::string all;
  for (const Event& event : kHarm) {
    if (number(row, event.first) > (none ? number(*none, event.first) : 0.0)) {
      worse += (worse.empty() ? "" : ", ") + beside(event);
    }
    if (number(row, event.first) > 0) all += beside(event) + ", ";
  }
  if (!worse.empty() && row.value("safe", false)) {
    return {"warn", "Look closer",
            "per episode: " + worse +
                "; over these seeds the increase is not significant (evaluation.safety_limit)"};
  }
  if (!worse.empty()) return {"bad", "Less safe", "per episode: " + worse};
  constexpr double kNoticeable = 1.1;
  for (const Event& event : kHints) {
    if (none && number(row, event.first) > kNoticeable * number(*none, event.first)) {
      worse += (worse.empty() ? "" : ", ") + beside(event);
    }
    all += beside(event) + (event == kHints.back() ? "" : ", ");
  }
  if (!worse.empty()) return {"warn", "Look closer", "per episode: " + worse};
  const std::string begin = number(row, "collisions") > 0 ? "" : "no collision; ";
  return {"good", none ? "No worse than without" : "No harm seen", begin + "per episode: " + all};
}

Json final_comparison(const std::vector<RunReader>& parts) {
  for (auto part = parts.rbegin(); part != parts.rend(); ++part) {
    const Json summary = part->summary().value_or(Json::object());
    const Json result = summary.value("result", Json::object());
    if (!result.value("kept", "").empty()) return result;
  }
  return Json::object();
}

bool keeps_script(const Json& comparison) {
  return comparison.value("kept", "").starts_with("script ") &&
         !is_checkpoint(comparison.value("controller", ""));
}

Prediction prediction_of(const RunReader& part) {
  const Json summary = part.summary().value_or(Json::object());
  const Json result = summary.value("result", Json::object());
  for (int frame = 30; frame > 0; --frame) {
    const std::string name = fmt::format("position_rmse_m_frame{}", frame);
    if (!result.contains(name) || !result[name].is_number()) continue;
    return {frame, result[name], number(result, ("constant_velocity_" + name).c_str())};
  }
  return {};
}

}  // namespace traffic::report
