/// The aim of a controller, as env.objective names it.
#pragma once

#include <string>
#include <string_view>

namespace traffic::config {

/// Weights with which the relative improvements of an episode's scores count. Their sum is 1.
struct Objective {
  double throughput = 0;   ///< weight of ocr_all
  double delay = 0;        ///< weight of delay_s
  double co2 = 0;          ///< weight of co2_g_per_km
  double electricity = 0;  ///< weight of electricity_wh_per_km

  bool operator==(const Objective&) const = default;
  /// Whether simulations must measure emissions.
  [[nodiscard]] bool needs_emissions() const { return co2 > 0.0 || electricity > 0.0; }

  static const Objective kThroughput;
  static const Objective kDelay;
  static const Objective kCo2;
  static const Objective kElectricity;
};
inline constexpr Objective Objective::kThroughput{.throughput = 1};
inline constexpr Objective Objective::kDelay{.delay = 1};
inline constexpr Objective Objective::kCo2{.co2 = 1};
inline constexpr Objective Objective::kElectricity{.electricity = 1};

/// The objective that a text of env.objective names: "ocr", "delay", "co2", "electricity", or a
/// weighted sum of them such as "0.75*delay+0.25*co2". Weights are divided by their sum; a part
/// without a weight has the weight 1. "auto" counts as "ocr" until the program has replaced it.
/// @throws ConfigError for any other text
Objective objective_of(std::string_view text);

/// Why a text of env.objective is refused; empty if it is allowed.
std::string refuse_objective(std::string_view text);

}  // namespace traffic::config
