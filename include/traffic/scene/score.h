/// The counts of one episode of a simulation (vehicles, lost time, safety events), and the scores
/// that controllers are compared by.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "traffic/config/objective.h"
#include "traffic/scene/vehicle.h"

namespace traffic::scene {

/// Vehicles below this speed count as standing (SUMO calls them halting).
inline constexpr double kStandingMps = 0.1;

/// Counts since the start of the episode, and the scores that follow from them.
struct EpisodeScore {
  double seconds = 0;  ///< simulated time since the start of the episode
  std::int64_t departed = 0;
  std::int64_t arrived = 0;  ///< reached their destination
  std::int64_t removed = 0;  ///< taken out before their destination (collisions, jams, vaporizers)
  std::int64_t waiting = 0;  ///< vehicles that want to enter now and cannot
  std::int64_t discarded = 0;  ///< vehicles that SUMO deleted while they waited to enter
                               ///< (its option max-depart-delay)
  std::int64_t running = 0;    ///< departed vehicles that have not left
  double completion_sum = 0;   ///< sum of the progress (0..1) of the running vehicles

  std::int64_t vehicle_steps = 0;  ///< number of vehicles on the road, summed over the steps
  double speed_sum = 0;            ///< m/s, summed over vehicle_steps
  double speed_square_sum = 0;     ///< m2/s2, summed over vehicle_steps
  double abs_accel_sum = 0;        ///< m/s2, summed over vehicle_steps
  /// Sum of the vehicles' timeLoss as in SUMO's trip information: how much longer they drove than
  /// at the allowed speed. Scheduled stops do not count.
  double time_loss_s = 0;
  double standing_s = 0;        ///< vehicle-seconds under kStandingMps
  double depart_delay_s = 0;    ///< sum of the vehicles' departDelay, also of those that still wait
                                ///< or that SUMO discarded while they waited
  double driven_m = 0;          ///< distance that vehicles drove
  Emissions road_emissions;     ///< of departed vehicles, as in SUMO's trip information; 0 if they
                                ///< are not measured
  Emissions waiting_emissions;  ///< of vehicles that wait to enter, with their engines running
  std::int64_t collisions = 0;
  std::int64_t emergency_stops = 0;
  std::int64_t emergency_brakes = 0;  ///< vehicle-steps with emergency braking, as SUMO counts them
  std::int64_t hard_brakes = 0;       ///< times a vehicle began to brake harder than 3 m/s2
  std::int64_t teleports = 0;  ///< vehicles that SUMO teleported or removed because they stood too
                               ///< long or collided, as SUMO counts them

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

  /// All vehicles that wanted to drive: those that departed, wait to enter, or were discarded while
  /// they waited.
  [[nodiscard]] std::int64_t demand() const { return departed + waiting + discarded; }
  /// Arrived vehicles plus the progress of running ones: the numerator of ocr_all and ocr_departed.
  [[nodiscard]] double numerator() const { return static_cast<double>(arrived) + completion_sum; }
  /// Time that vehicles lost on the road and while they waited to enter.
  [[nodiscard]] double lost_s() const { return time_loss_s + depart_delay_s; }
  /// Emissions of departed vehicles and of those that wait to enter.
  [[nodiscard]] Emissions emissions() const { return road_emissions + waiting_emissions; }
  /// Whether emissions were measured and are not all 0.
  [[nodiscard]] bool has_emissions() const {
    const Emissions all = emissions();
    return all.co2_g != 0.0 || all.fuel_g != 0.0 || all.electricity_wh != 0.0;
  }
  /// emissions() per kilometre that vehicles drove. Vehicles that wait to enter raise it, so
  /// holding traffic outside of the network does not lower it. A distance below 1 m counts as 1 m.
  [[nodiscard]] Emissions emissions_per_km() const;
  /// emissions() per vehicle of demand().
  [[nodiscard]] Emissions emissions_per_vehicle() const;
  /// Share of the demand that got through: numerator() divided by demand().
  [[nodiscard]] double ocr_all() const;
  /// numerator() divided by the departed vehicles. This ratio rises when vehicles cannot enter.
  [[nodiscard]] double ocr_departed() const;
  /// Arrived vehicles per hour.
  [[nodiscard]] double outflow_vph() const;
  /// lost_s() divided by demand().
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

using config::Objective;
using config::objective_of;

/// Name of the score that an objective compares: "ocr_all", "delay_s", "co2_g_per_km",
/// "electricity_wh_per_km", or a weighted sum such as "0.75*delay_s+0.25*co2_g_per_km".
std::string name_of(const Objective& objective);

/// The scores that objectives compare, of an episode or as sums over episodes.
struct ComparedScores {
  double ocr_all = 0;
  double delay_s = 0;
  double co2_g_per_km = 0;
  double electricity_wh_per_km = 0;

  ComparedScores& operator+=(const ComparedScores& more) {
    ocr_all += more.ocr_all;
    delay_s += more.delay_s;
    co2_g_per_km += more.co2_g_per_km;
    electricity_wh_per_km += more.electricity_wh_per_km;
    return *this;
  }
};
ComparedScores compared_scores(const EpisodeScore& score);
/// By how many percent `scores` are better than `over`: the weighted mean of the relative
/// improvements of the scores. A larger ocr_all is better; the other scores are better if they are
/// smaller. A score that is 0 in `over` counts as unchanged.
double gain_percent(const ComparedScores& scores, const ComparedScores& over,
                    const Objective& objective);

/// Checks that traffic has the emissions that an objective compares.
/// @param emissions of uncontrolled traffic of the scenario
/// @throws ConfigError that names the scenario if they are 0
void require_emissions(const Objective& objective, const std::string& scenario,
                       const Emissions& emissions);

/// A quantity that grows during an episode. A reward is a weighted sum of such growths.
enum class Term : std::uint8_t {
  kThroughput,   ///< EpisodeScore::numerator()
  kDelay,        ///< EpisodeScore::lost_s() with a minus sign
  kCo2,          ///< EpisodeScore::emissions().co2_g with a minus sign
  kElectricity,  ///< EpisodeScore::emissions().electricity_wh with a minus sign
  kDistance,     ///< EpisodeScore::driven_m
};
inline constexpr std::size_t kNumTerms = 5;
/// 1 for throughput and distance, -1 for the other terms, which are costs.
double sign_of(Term term);
/// The quantity since the start of the episode.
double value_of(const EpisodeScore& score, Term term);
/// The terms of an objective's reward in ascending order, without repetition. Quantities per
/// kilometre also need the distance.
std::vector<Term> terms_of(const Objective& objective);

}  // namespace traffic::scene
