#include "cart_pole.h"

#include <cmath>
#include <numbers>

#include "traffic/core/random.h"

namespace traffic::example {
namespace {

constexpr double kGravity_mps2 = 9.8;
constexpr double kPoleMass_kg = 0.1;
constexpr double kTotalMass_kg = 1.1;  ///< mass of pole and cart
constexpr double kHalfLength_m = 0.5;  ///< half the length of the pole
constexpr double kStep_s = 0.02;
constexpr double kTrack_m = 2.4;  ///< distance from the middle of the track to either end
constexpr double kFallen_rad = 12.0 * std::numbers::pi / 180.0;

/// The state after a step of Euler's method.
CartPoleState move(const CartPoleState& state, double force_n) {
  const auto [position, speed, angle, rate] = state;
  const double sine = std::sin(angle);
  const double cosine = std::cos(angle);
  const double swing =
      (force_n + kPoleMass_kg * kHalfLength_m * rate * rate * sine) / kTotalMass_kg;
  const double turn =
      (kGravity_mps2 * sine - cosine * swing) /
      (kHalfLength_m * (4.0 / 3.0 - kPoleMass_kg * cosine * cosine / kTotalMass_kg));
  const double acceleration = swing - kPoleMass_kg * kHalfLength_m * turn * cosine / kTotalMass_kg;
  return {position + kStep_s * speed, speed + kStep_s * acceleration, angle + kStep_s * rate,
          rate + kStep_s * turn};
}

}  // namespace

rollout::Environment::Answer CartPole::reset(std::span<const std::byte> order,
                                             std::span<std::byte> room,
                                             rollout::EnvHost& /*host*/) {
  Rng rng(from_bytes<Start>(order).seed);
  for (double& value : state_) value = rng.uniform(-0.05, 0.05);
  steps_ = 0;
  return answer(room, /*done=*/false);
}

rollout::Environment::Answer CartPole::step(std::span<const std::byte> order,
                                            std::span<std::byte> room, rollout::EnvHost& host) {
  host.begin_step();
  state_ = move(state_, from_bytes<Push>(order).force_n);
  ++steps_;
  const bool lost = std::abs(state_[0]) > kTrack_m || std::abs(state_[2]) > kFallen_rad;
  return answer(room, lost || steps_ >= kMaxSteps);
}

rollout::Environment::Answer CartPole::answer(std::span<std::byte> room, bool done) const {
  TRAFFIC_CHECK(room.size() >= sizeof(state_), "there is room for {} bytes, expected at least {}",
                room.size(), sizeof(state_));
  std::memcpy(room.data(), &state_, sizeof(state_));
  return {.size_bytes = sizeof(state_), .done = done};
}

}  // namespace traffic::example
