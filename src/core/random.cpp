// A random number generator, and a function that derives seeds.
#include "traffic/core/random.h"

#include <bit>
#include <cmath>
#include <numbers>

#include "traffic/core/error.h"

namespace traffic {
namespace {

/// One step of splitmix64: advances the counter and returns its mixed value.
std::uint64_t splitmix64(std::uint64_t& counter) {
  counter += 0x9e3779b97f4a7c15ULL;
  std::uint64_t z = counter;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31U);
}

}  // namespace

std::uint64_t derive_seed(std::uint64_t base, std::initializer_list<std::uint64_t> stream) {
  std::uint64_t counter = base;
  std::uint64_t seed = splitmix64(counter);
  for (const std::uint64_t word : stream) {
    counter = seed ^ word;
    seed = splitmix64(counter);
  }
  counter = seed ^ static_cast<std::uint64_t>(stream.size());
  return splitmix64(counter);
}

Rng::Rng(std::uint64_t seed) : state_{} {
  for (std::uint64_t& word : state_) word = splitmix64(seed);
}

std::uint64_t Rng::next_u64() {
  const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
  const std::uint64_t t = state_[1] << 17U;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::uniform() { return static_cast<double>(next_u64() >> 11U) * 0x1.0p-53; }

std::uint64_t Rng::uniform_int(std::uint64_t n) {
  TRAFFIC_CHECK(n > 0, "uniform_int over an empty range");
  using Wide = unsigned __int128;
  Wide product = static_cast<Wide>(next_u64()) * n;
  auto low = static_cast<std::uint64_t>(product);
  if (low < n) {
    const std::uint64_t threshold = (0 - n) % n;
    while (low < threshold) {
      product = static_cast<Wide>(next_u64()) * n;
      low = static_cast<std::uint64_t>(product);
    }
  }
  return static_cast<std::uint64_t>(product >> 64U);
}

double Rng::normal() {
  const double radius = std::sqrt(-2.0 * std::log(1.0 - uniform()));  // 1 - u is never 0
  return radius * std::cos(2.0 * std::numbers::pi * uniform());
}

void Rng::set_state(const State& state) {
  TRAFFIC_CHECK(state != State{}, "the state of a random generator is all zero");
  state_ = state;
}

}  // namespace traffic
