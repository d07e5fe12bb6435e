// The functions of sampler.h that do not need the list of samples. They parse options, divide a
// step's samples among the ranks, and encode and decode SamplerState.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/data/sampler.h"

namespace traffic::data {

Shards parse_shards(std::string_view name) {
  if (name == "mixed") return Shards::kMixed;
  if (name == "time") return Shards::kTime;
  if (name == "region") return Shards::kRegion;
  throw ConfigError("data.shards: found '{}', expected mixed, time or region", name);
}

std::vector<std::int64_t> rank_batch_sizes(std::int64_t batch_size, std::int64_t world_size,
                                           std::span<const double> weights) {
  if (batch_size < 1) throw ConfigError("data.batch_size is {}, expected at least 1", batch_size);
  const auto ranks = static_cast<std::size_t>(world_size);
  if (weights.empty()) return std::vector<std::int64_t>(ranks, batch_size);
  const auto usable = [](double w) { return std::isfinite(w) && w > 0; };
  if (weights.size() != ranks || !std::all_of(weights.begin(), weights.end(), usable)) {
    throw ConfigError(
        "data.rank_weights has {} entries for {} ranks; give one positive number for "
        "each rank, or an empty list",
        weights.size(), world_size);
  }
  // Each rank gets 1 sample first, so that no size is 0. The other samples are distributed by
  // rounding running sums, so that the total is exact.
  const double total_weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  const auto extra = static_cast<double>((batch_size - 1) * world_size);
  std::vector<std::int64_t> sizes;
  double running = 0;
  std::int64_t given = 0;
  for (const double weight : weights) {
    running += weight;
    const std::int64_t until = std::llround(extra * running / total_weight);
    sizes.push_back(1 + until - given);
    given = until;
  }
  return sizes;
}

std::vector<std::int64_t> SamplerState::encode() const {
  std::vector<std::int64_t> numbers{epoch, static_cast<std::int64_t>(fingerprint),
                                    static_cast<std::int64_t>(stages.size())};
  for (const auto& stage : stages) {
    numbers.push_back(stage.steps);
    numbers.push_back(static_cast<std::int64_t>(stage.batch_sizes.size()));
    numbers.insert(numbers.end(), stage.batch_sizes.begin(), stage.batch_sizes.end());
  }
  return numbers;
}

SamplerState SamplerState::decode(std::span<const std::int64_t> numbers) {
  std::size_t at = 0;
  const auto take = [&](std::int64_t least, std::int64_t most) {
    if (at >= numbers.size() || numbers[at] < least || numbers[at] > most) {
      throw DataError(
          "the saved position of the sampler is damaged: entry {} of {} is missing or out of "
          "range; resume from another checkpoint",
          at, numbers.size());
    }
    return numbers[at++];
  };
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  SamplerState state;
  state.epoch = take(0, kMost);
  state.fingerprint = static_cast<std::uint64_t>(take(INT64_MIN, INT64_MAX));
  const auto stages = take(1, static_cast<std::int64_t>(numbers.size()));
  for (std::int64_t i = 0; i < stages; ++i) {
    Stage stage;
    stage.steps = take(0, kMost);
    const auto ranks = take(1, static_cast<std::int64_t>(numbers.size()));
    for (std::int64_t r = 0; r < ranks; ++r) stage.batch_sizes.push_back(take(1, kMost));
    state.stages.push_back(std::move(stage));
  }
  if (at != numbers.size()) {
    throw DataError(
        "the saved position of the sampler has {} entries, expected {}; resume from another "
        "checkpoint",
        numbers.size(), at);
  }
  return state;
}

}  // namespace traffic::data
