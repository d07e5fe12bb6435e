// Scores of an episode, and rules that tell whether its traffic is saturated.
#include "traffic/scene/score.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "traffic/core/error.h"

namespace traffic::scene {
namespace {

/// 0 if the count is 0.
double ratio(double value, double count) { return count > 0 ? value / count : 0.0; }

/// Time in seconds that a whole trip would take without losses, estimated from the driven parts of
/// all trips.
double free_trip_s(const EpisodeScore& score, double step_length_s) {
  const double driven_s = static_cast<double>(score.vehicle_steps) * step_length_s;
  return ratio(std::max(0.0, driven_s - score.time_loss_s), score.numerator());
}

/// Number of vehicles that have departed or want to enter, and have not left. Discarded vehicles
/// would still wait if SUMO had kept them.
double in_system(const EpisodeScore& score) {
  return static_cast<double>(score.running + score.waiting + score.discarded);
}

/// Number of vehicles that would be in the system now if traffic were even: vehicles come evenly,
/// and each spends the same time T in the system. T is such that the total time of all vehicles in
/// the system is that of the episode. For D vehicles in S seconds the total is
///   D * (T - T^2 / (2 * S)),
/// because vehicles that came in the last T seconds are still there. Their number is D * T / S.
double even_in_system(const EpisodeScore& score, double step_length_s) {
  const auto demand = static_cast<double>(score.demand());
  const double total_s =
      static_cast<double>(score.vehicle_steps) * step_length_s + score.depart_delay_s;
  const double mean_in_system = ratio(total_s, score.seconds);
  return demand * (1.0 - std::sqrt(std::max(0.0, 1.0 - 2.0 * ratio(mean_in_system, demand))));
}

}  // namespace

double EpisodeScore::ocr_all() const { return ratio(numerator(), static_cast<double>(demand())); }
double EpisodeScore::ocr_departed() const {
  return ratio(numerator(), static_cast<double>(departed));
}
bool is_steady(const EpisodeScore& score, double step_length_s) {
  constexpr double kTrips = 3.0;
  return score.numerator() > 0.0 && score.seconds >= kTrips * free_trip_s(score, step_length_s);
}
bool is_saturated(const EpisodeScore& score, double step_length_s) {
  constexpr double kThrough = 0.9;   // lowest share of free_ocr that counts as enough
  constexpr double kWaiting = 0.02;  // waiting and discarded vehicles / departed vehicles
  constexpr double kStuck = 0.5;     // share of free_ocr below which traffic is at a standstill
  constexpr double kGrowth = 1.2;    // vehicles in the system / even_in_system()
  if (!is_steady(score, step_length_s)) return false;
  const double trip_s = free_trip_s(score, step_length_s);
  // free_ocr is the ocr_all of traffic without losses. It is below 1, because vehicles that entered
  // within the last trip_s have covered only half of their trip on average.
  const double free_ocr = std::max(0.0, 1.0 - 0.5 * ratio(trip_s, score.seconds));
  const bool falls_short = score.ocr_all() < kThrough * free_ocr ||
                           static_cast<double>(score.demand() - score.departed) >
                               kWaiting * static_cast<double>(score.departed);
  // Even traffic falls short, too, if trips take far longer than without losses, as among traffic
  // lights. Then, however, the number of vehicles does not grow.
  return falls_short && (score.ocr_all() < kStuck * free_ocr ||
                         in_system(score) > kGrowth * even_in_system(score, step_length_s));
}

std::string name_of(const Objective& objective) {
  std::string sum;
  const auto add = [&](double weight, const char* name) {
    if (weight <= 0.0) return;
    sum += sum.empty() ? "" : "+";
    sum += weight == 1.0 ? name : fmt::format("{:.3g}*{}", weight, name);
  };
  add(objective.throughput, "ocr_all");
  add(objective.delay, "delay_s");
  add(objective.co2, "co2_g_per_km");
  add(objective.electricity, "electricity_wh_per_km");
  return sum;
}

ComparedScores compared_scores(const EpisodeScore& score) {
  const Emissions per_km = score.emissions_per_km();
  return {.ocr_all = score.ocr_all(),
          .delay_s = score.delay_s(),
          .co2_g_per_km = per_km.co2_g,
          .electricity_wh_per_km = per_km.electricity_wh};
}

double gain_percent(const ComparedScores& scores, const ComparedScores& over,
                    const Objective& objective) {
  const auto saved = [](double value, double from) { return ratio(from - value, from); };
  const double gain =
      objective.throughput * ratio(scores.ocr_all - over.ocr_all, over.ocr_all) +
      objective.delay * saved(scores.delay_s, over.delay_s) +
      objective.co2 * saved(scores.co2_g_per_km, over.co2_g_per_km) +
      objective.electricity * saved(scores.electricity_wh_per_km, over.electricity_wh_per_km);
  return 100.0 * gain;
}

void require_emissions(const Objective& objective, const std::string& scenario,
                       const Emissions& emissions) {
  const auto require = [&](double weight, double amount, const char* name, const char* what,
                           const char* engine) {
    if (weight <= 0.0 || amount > 0.0) return;
    throw ConfigError(
        "env.objective contains {}, but vehicles of scenario {} {} without control; give a vehicle "
        "type an emissionClass with {}, or choose another objective",
        name, scenario, what, engine);
  };
  require(objective.co2, emissions.co2_g, "co2", "emit no CO2", "a combustion engine");
  require(objective.electricity, emissions.electricity_wh, "electricity", "use no electric energy",
          "an electric engine, such as Energy/unknown");
}

double sign_of(Term term) {
  return term == Term::kThroughput || term == Term::kDistance ? 1.0 : -1.0;
}

double value_of(const EpisodeScore& score, Term term) {
  switch (term) {
    case Term::kThroughput:
      return score.numerator();
    case Term::kDelay:
      return -score.lost_s();
    case Term::kCo2:
      return -score.emissions().co2_g;
    case Term::kElectricity:
      return -score.emissions().electricity_wh;
    case Term::kDistance:
      break;
  }
  return score.driven_m;
}

std::vector<Term> terms_of(const Objective& objective) {
  std::vector<Term> terms;
  if (objective.throughput > 0.0) terms.push_back(Term::kThroughput);
  if (objective.delay > 0.0) terms.push_back(Term::kDelay);
  if (objective.co2 > 0.0) terms.push_back(Term::kCo2);
  if (objective.electricity > 0.0) terms.push_back(Term::kElectricity);
  if (objective.needs_emissions()) terms.push_back(Term::kDistance);
  return terms;
}

double EpisodeScore::outflow_vph() const {
  return ratio(static_cast<double>(arrived) * 3600.0, seconds);
}
double EpisodeScore::delay_s() const { return ratio(lost_s(), static_cast<double>(demand())); }
Emissions EpisodeScore::emissions_per_km() const {
  return 1e3 / std::max(1.0, driven_m) * emissions();
}
Emissions EpisodeScore::emissions_per_vehicle() const {
  return 1.0 / static_cast<double>(std::max<std::int64_t>(1, demand())) * emissions();
}
double EpisodeScore::mean_queue() const { return ratio(standing_s, seconds); }
double EpisodeScore::standing_time_s() const {
  return ratio(standing_s, static_cast<double>(departed));
}
double EpisodeScore::mean_speed_mps() const {
  return ratio(speed_sum, static_cast<double>(vehicle_steps));
}
double EpisodeScore::speed_deviation_mps() const {
  const double mean = mean_speed_mps();
  const double square = ratio(speed_square_sum, static_cast<double>(vehicle_steps));
  return std::sqrt(std::max(0.0, square - mean * mean));
}
double EpisodeScore::mean_abs_accel_mps2() const {
  return ratio(abs_accel_sum, static_cast<double>(vehicle_steps));
}

}  // namespace traffic::scene
