// Scores of an episode, and rules that tell whether its traffic is saturated.
#include "traffic/scene/score.h"

#include <algorithm>
#include <cmath>

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

/// Number of vehicles that have departed or wait to enter, and have not left.
double in_system(const EpisodeScore& score) {
  return static_cast<double>(score.running + score.waiting);
}

/// Number of vehicles that would be in the system now if traffic were even: vehicles come evenly,
/// and each spends the same time T in the system. T is such that the total time of all vehicles in
/// the system is that of the episode. For D vehicles in S seconds the total is
///   D * (T - T^2 / (2 * S)),
/// because vehicles that came in the last T seconds are still there. Their number is D * T / S.
double even_in_system(const EpisodeScore& score, double step_length_s) {
  const double demand = static_cast<double>(score.departed + score.waiting);
  const double total_s =
      static_cast<double>(score.vehicle_steps) * step_length_s + score.depart_delay_s;
  const double mean_in_system = ratio(total_s, score.seconds);
  return demand * (1.0 - std::sqrt(std::max(0.0, 1.0 - 2.0 * ratio(mean_in_system, demand))));
}

}  // namespace

double EpisodeScore::ocr_all() const {
  return ratio(numerator(), static_cast<double>(departed + waiting));
}
double EpisodeScore::ocr_departed() const {
  return ratio(numerator(), static_cast<double>(departed));
}
bool is_steady(const EpisodeScore& score, double step_length_s) {
  constexpr double kTrips = 3.0;
  return score.numerator() > 0.0 && score.seconds >= kTrips * free_trip_s(score, step_length_s);
}
bool is_saturated(const EpisodeScore& score, double step_length_s) {
  constexpr double kThrough = 0.9;   // lowest share of free_ocr that counts as enough
  constexpr double kWaiting = 0.02;  // waiting vehicles / departed vehicles
  constexpr double kStuck = 0.5;     // share of free_ocr below which traffic is at a standstill
  constexpr double kGrowth = 1.2;    // vehicles in the system / even_in_system()
  if (!is_steady(score, step_length_s)) return false;
  const double trip_s = free_trip_s(score, step_length_s);
  // free_ocr is the ocr_all of traffic without losses. It is below 1, because vehicles that entered
  // within the last trip_s have covered only half of their trip on average.
  const double free_ocr = std::max(0.0, 1.0 - 0.5 * ratio(trip_s, score.seconds));
  const bool falls_short =
      score.ocr_all() < kThrough * free_ocr ||
      static_cast<double>(score.waiting) > kWaiting * static_cast<double>(score.departed);
  // Even traffic falls short, too, if trips take far longer than without losses, as among traffic
  // lights. Then, however, the number of vehicles does not grow.
  return falls_short && (score.ocr_all() < kStuck * free_ocr ||
                         in_system(score) > kGrowth * even_in_system(score, step_length_s));
}

double value_of(const EpisodeScore& score, Objective objective) {
  return objective == Objective::kDelay ? score.delay_s() : score.ocr_all();
}
double gain_percent(double value, double over, Objective objective) {
  const double more = objective == Objective::kDelay ? over - value : value - over;
  return 100.0 * ratio(more, over);
}
std::string_view name_of(Objective objective) {
  return objective == Objective::kDelay ? "delay_s" : "ocr_all";
}

double EpisodeScore::outflow_vph() const {
  return ratio(static_cast<double>(arrived) * 3600.0, seconds);
}
double EpisodeScore::delay_s() const {
  return ratio(lost_s(), static_cast<double>(departed + waiting));
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
