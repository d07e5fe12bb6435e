/// A cheap environment that adds up the values of its orders, and fails if an order says so.
#pragma once

#include <cstdint>
#include <cstring>
#include <span>
#include <stdexcept>

#include "traffic/rollout/pool/environment.h"

namespace traffic::rollout::testing {

/// The order of a reset and of a step.
struct CountOrder {
  std::int64_t value = 0;   ///< reset: first sum; step: value to add
  std::int64_t length = 0;  ///< length of the episode, in steps
  enum class Manner : std::int64_t { kWell, kThrow, kTooMuch } manner = Manner::kWell;
};

struct CountAnswer {
  std::int64_t sum = 0;
  std::int64_t steps = 0;  ///< steps of the episode so far
  std::int64_t env = 0;
};

inline std::span<const std::byte> bytes_of(const CountOrder& order) {
  return std::as_bytes(std::span(&order, 1));
}

class CountingEnvironment final : public Environment {
 public:
  explicit CountingEnvironment(const EnvPlace& place) { state_.env = place.env; }

  Answer reset(std::span<const std::byte> order, std::span<std::byte> room,
               EnvHost& /*host*/) override {
    const CountOrder given = read(order);
    state_.sum = given.value;
    state_.steps = 0;
    length_ = given.length;
    return answer(given, room);
  }
  Answer step(std::span<const std::byte> order, std::span<std::byte> room, EnvHost& host) override {
    const CountOrder given = read(order);
    host.begin_step();
    state_.sum += given.value;
    ++state_.steps;
    return answer(given, room);
  }

 private:
  static CountOrder read(std::span<const std::byte> order) {
    CountOrder given;
    if (order.size() != sizeof(given)) throw std::runtime_error("an order of another size");
    std::memcpy(&given, order.data(), sizeof(given));
    return given;
  }
  Answer answer(const CountOrder& given, std::span<std::byte> room) const {
    if (given.manner == CountOrder::Manner::kThrow) throw std::runtime_error("as it was told to");
    std::memcpy(room.data(), &state_, sizeof(state_));
    const bool too_much = given.manner == CountOrder::Manner::kTooMuch;
    return {.size_bytes = too_much ? room.size() + 1 : sizeof(state_),
            .done = state_.steps >= length_};
  }

  CountAnswer state_;
  std::int64_t length_ = 0;
};

}  // namespace traffic::rollout::testing
