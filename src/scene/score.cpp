#include "traffic/scene/score.h"

#include <algorithm>
#include <cmath>

namespace traffic::scene {
namespace {

double ratio(double value, double count) { return count > 0 ? value / count : 0.0; }

}  // namespace

double EpisodeScore::ocr_all() const {
  return ratio(numerator(), static_cast<double>(departed + waiting));
}
double EpisodeScore::ocr_departed() const {
  return ratio(numerator(), static_cast<double>(departed));
}
double EpisodeScore::outflow_vph() const {
  return ratio(static_cast<double>(arrived) * 3600.0, seconds);
}
double EpisodeScore::delay_s() const {
  return ratio(time_loss_s + depart_delay_s, static_cast<double>(departed + waiting));
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
