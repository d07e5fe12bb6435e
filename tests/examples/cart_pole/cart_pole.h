/// An environment for the example of docs/design/extending.md: a pole on a cart, which a policy
/// keeps upright by pushes to the left or the right.
///
/// Source: Barto, Sutton and Anderson 1983, "Neuronlike adaptive elements that can solve difficult
/// learning control problems". Masses, lengths and limits are those of the paper.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "traffic/core/error.h"
#include "traffic/rollout/pool/environment.h"

namespace traffic::example {

/// Order that resets the environment.
struct Start {
  std::uint64_t seed = 0;
};

/// Order that makes a step.
struct Push {
  double force_n = 0.0;
};

/// Answer to each order: position (m), speed (m/s), angle (rad) and its rate (rad/s).
using CartPoleState = std::array<double, 4>;

inline constexpr double kForce_n = 10.0;
inline constexpr int kMaxSteps = 500;  ///< maximum number of steps of an episode

/// Encodes an order or an answer. Rank and environment run on one machine, so the bytes of a value
/// are its message.
template <typename T>
std::span<const std::byte> to_bytes(const T& value) {
  return std::as_bytes(std::span(&value, 1));
}
template <typename T>
T from_bytes(std::span<const std::byte> bytes) {
  TRAFFIC_CHECK(bytes.size() == sizeof(T), "{} bytes, expected {}", bytes.size(), sizeof(T));
  T value;
  std::memcpy(&value, bytes.data(), sizeof(T));
  return value;
}

/// The environment. An episode ends when the pole falls, when the cart leaves the track, or after
/// kMaxSteps.
class CartPole final : public rollout::Environment {
 public:
  Answer reset(std::span<const std::byte> order, std::span<std::byte> room,
               rollout::EnvHost& host) override;
  Answer step(std::span<const std::byte> order, std::span<std::byte> room,
              rollout::EnvHost& host) override;

 private:
  [[nodiscard]] Answer answer(std::span<std::byte> room, bool done) const;

  CartPoleState state_{};
  int steps_ = 0;
};

}  // namespace traffic::example
