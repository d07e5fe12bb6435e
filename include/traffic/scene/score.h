/// The counts of one episode of a simulation (vehicles, lost time, safety events), and the scores
/// that controllers are compared by.
#pragma once

#include <cstdint>
#include <string_view>

namespace traffic::scene {

/// Vehicles below this speed count as standing (SUMO calls them halting).
inline constexpr double kStandingMps = 0.1;

/// Counts since the start of the episode, and the scores that follow from them.
struct EpisodeScore {
  double seconds = 0;  ///< simulated time since the start of the episode
  std::int64_t departed = 0;
  std::int64_t arrived = 0;   ///< reached their destination
  std::int64_t removed = 0;   ///< taken out before their destination (collisions, jams, vaporizers)
  std::int64_t waiting = 0;   ///< vehicles that want to enter now and cannot
  std::int64_t running = 0;   ///< departed vehicles that have not left
  double completion_sum = 0;  ///< sum of the progress (0..1) of the running vehicles

  std::int64_t vehicle_steps = 0;  ///< number of vehicles on the road, summed over the steps
  double speed_sum = 0;            ///< m/s, summed over vehicle_steps
  double speed_square_sum = 0;     ///< m2/s2, summed over vehicle_steps
  double abs_accel_sum = 0;        ///< m/s2, summed over vehicle_steps
  /// Sum of the vehicles' timeLoss as in SUMO's trip information: how much longer they drove than
  /// at the allowed speed. Scheduled stops do not count.
  double time_loss_s = 0;
  double standing_s = 0;      ///< vehicle-seconds under kStandingMps
  double depart_delay_s = 0;  ///< sum of the vehicles' departDelay, also of those that still wait
                              ///< or that SUMO discarded while they waited
  std::int64_t collisions = 0;
  std::int64_t emergency_stops = 0;
  std::int64_t emergency_brakes = 0;  ///< vehicle-steps with emergency braking, as SUMO counts them
  std::int64_t hard_brakes = 0;       ///< times a vehicle began to brake harder than 3 m/s2
  std::int64_t teleports = 0;

  std::int64_t signal_changes = 0;  ///< times a controller switched a light to another green

  std::int64_t interventions = 0;    ///< times a vehicle came under control
  std::int64_t cv_steps = 0;         ///< vehicle-steps under control
  std::int64_t unsafe_steps = 0;     ///< vehicle-steps, of all vehicles, with a headway or time to
                                     ///< collision below ShieldLimits
  std::int64_t unsafe_cv_steps = 0;  ///< cv_steps in which the vehicle or its follower was unsafe
  std::int64_t shield_clips = 0;     ///< accelerations clipped to the vehicle's ability (level 1 of
                                     ///< shield.h), counted in every step
  std::int64_t shield_overrides = 0;  ///< commands replaced by braking (level 2 of shield.h),
                                      ///< counted in every step

  /// Arrived vehicles plus the progress of running ones: the numerator of ocr_all and ocr_departed.
  [[nodiscard]] double numerator() const { return static_cast<double>(arrived) + completion_sum; }
  /// Time that vehicles lost on the road and while they waited to enter.
  [[nodiscard]] double lost_s() const { return time_loss_s + depart_delay_s; }
  /// Share of the demand that got through: numerator() divided by all vehicles that departed or
  /// wait to enter.
  [[nodiscard]] double ocr_all() const;
  /// numerator() divided by the departed vehicles. This ratio rises when vehicles cannot enter.
  [[nodiscard]] double ocr_departed() const;
  /// Arrived vehicles per hour.
  [[nodiscard]] double outflow_vph() const;
  /// lost_s() divided by the number of vehicles that departed or wait to enter.
  [[nodiscard]] double delay_s() const;
  /// Number of standing vehicles, averaged over time.
  [[nodiscard]] double mean_queue() const;
  /// Mean time that a departed vehicle stood.
  [[nodiscard]] double standing_time_s() const;
  [[nodiscard]] double mean_speed_mps() const;
  [[nodiscard]] double speed_deviation_mps() const;
  [[nodiscard]] double mean_abs_accel_mps2() const;
};

/// Whether the episode has lasted at least three times as long as a trip without losses takes.
/// Before that time the network has not filled up, so nobody can tell whether traffic is saturated.
/// @param step_length_s duration of a step
bool is_steady(const EpisodeScore& score, double step_length_s);
/// Whether traffic is steady and the network cannot serve the demand, so that a controller can
/// raise ocr_all. In other traffic a controller can only lower delay_s. The network cannot serve
/// the demand if two conditions hold. First, many vehicles wait to enter, or ocr_all is far below
/// its value without losses. That value is below 1, because some vehicles are still on the road at
/// the end. Second, the number of vehicles on the road or waiting to enter has grown until now, or
/// hardly any vehicle gets through.
/// @param step_length_s duration of a step
bool is_saturated(const EpisodeScore& score, double step_length_s);

/// The aim of a controller (env.objective).
enum class Objective : std::uint8_t { kThroughput, kDelay };
/// The objective that a text of env.objective names: kDelay for "delay", kThroughput for all other
/// texts. "auto" counts as kThroughput until the program has replaced it by "ocr" or "delay".
inline Objective objective_of(std::string_view name) {
  return name == "delay" ? Objective::kDelay : Objective::kThroughput;
}
/// The score that an objective compares: ocr_all or delay_s.
double value_of(const EpisodeScore& score, Objective objective);
/// By how many percent `value` is better than `over`; larger ocr_all and smaller delay_s are
/// better. 0 if `over` is 0.
double gain_percent(double value, double over, Objective objective);
/// "ocr_all" or "delay_s"
std::string_view name_of(Objective objective);

}  // namespace traffic::scene
