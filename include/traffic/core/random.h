/// A random number generator, and a function that derives seeds. The same seed gives exactly the
/// same sequence with every compiler and library. Checkpoints can save the state of a generator.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

namespace traffic {

/// Returns the seed of one stream of random numbers, e.g. derive_seed(run.seed, {kLoaderStream,
/// epoch}). random_streams.h lists the first numbers of all streams. Different lists, also of
/// different lengths, give unrelated seeds.
std::uint64_t derive_seed(std::uint64_t base, std::initializer_list<std::uint64_t> stream);

/// xoshiro256** (Blackman and Vigna 2018, arXiv:1805.01407), seeded by splitmix64. Not thread-safe.
class Rng {
 public:
  using State = std::array<std::uint64_t, 4>;

  explicit Rng(std::uint64_t seed);

  std::uint64_t next_u64();
  /// Uniform in [0, 1) with 53 random bits.
  double uniform();
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform in [0, n) without bias; n > 0. Lemire 2019, arXiv:1805.10941.
  std::uint64_t uniform_int(std::uint64_t n);
  /// Standard normal (Box-Muller). Each call draws two uniform numbers and stores none, so that
  /// state() is the whole state of the generator.
  double normal();

  /// Puts the items into a random order (Fisher-Yates).
  template <typename T>
  void shuffle(std::span<T> items) {
    for (std::size_t i = items.size(); i > 1; --i) {
      const auto j = static_cast<std::size_t>(uniform_int(i));
      using std::swap;
      swap(items[i - 1], items[j]);
    }
  }

  [[nodiscard]] const State& state() const noexcept { return state_; }
  /// Continues the sequence of the generator from whose state() this state was taken.
  /// @throws Error if all words are zero, which is not a state of any generator
  void set_state(const State& state);

 private:
  State state_;
};

}  // namespace traffic
