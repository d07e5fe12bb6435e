// The objective of a controller, from env.objective.
#include "traffic/config/objective.h"

#include <charconv>
#include <cmath>
#include <optional>

#include "traffic/core/error.h"

namespace traffic::config {
namespace {

/// The weight in an objective that a name stands for; null for an unknown name.
double* weight_of(Objective& objective, std::string_view name) {
  if (name == "ocr") return &objective.throughput;
  if (name == "delay") return &objective.delay;
  if (name == "co2") return &objective.co2;
  if (name == "electricity") return &objective.electricity;
  return nullptr;
}

/// Adds "name" or "weight*name" to an objective.
/// @return false if the text is neither, or if the objective already contains the name
bool add_part(std::string_view text, Objective& objective) {
  double weight = 1.0;
  if (const std::size_t star = text.find('*'); star != std::string_view::npos) {
    const char* last = text.data() + star;
    const auto [end, error] = std::from_chars(text.data(), last, weight);
    if (error != std::errc() || end != last) return false;
    text.remove_prefix(star + 1);
  }
  double* const known = weight_of(objective, text);
  if (known == nullptr || *known != 0.0 || !std::isfinite(weight) || weight <= 0.0) return false;
  *known = weight;
  return true;
}

std::optional<Objective> parse_objective(std::string_view text) {
  if (text == "auto") return Objective::kThroughput;
  Objective objective;
  for (std::string_view rest = text;;) {
    const std::size_t plus = rest.find('+');
    if (!add_part(rest.substr(0, plus), objective)) return std::nullopt;
    if (plus == std::string_view::npos) break;
    rest.remove_prefix(plus + 1);
  }
  const double sum = objective.throughput + objective.delay + objective.co2 + objective.electricity;
  return Objective{.throughput = objective.throughput / sum,
                   .delay = objective.delay / sum,
                   .co2 = objective.co2 / sum,
                   .electricity = objective.electricity / sum};
}

}  // namespace

std::string refuse_objective(std::string_view text) {
  if (parse_objective(text)) return "";
  return "expected ocr, delay, co2, electricity, auto, or a weighted sum such as "
         "0.75*delay+0.25*co2, with weights above 0 and each name at most once";
}

Objective objective_of(std::string_view text) {
  if (const auto objective = parse_objective(text)) return *objective;
  throw ConfigError("env.objective: found '{}', {}", text, refuse_objective(text));
}

}  // namespace traffic::config
