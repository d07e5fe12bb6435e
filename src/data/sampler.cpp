// Sampler: decides which samples each rank gets in each step of an epoch (sampler.h).
#include "traffic/data/sampler.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::data {
namespace {

std::int64_t sum(std::span<const std::int64_t> values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

}  // namespace

std::vector<Draw> EpochShare::draws(std::int64_t step) const {
  TRAFFIC_CHECK(step >= 0 && step < steps_,
                "step {} does not exist: the epoch has {} steps, counted from 0", step, steps_);
  const auto size = static_cast<std::int64_t>(samples_.size());
  const std::int64_t begin = std::min(size, step * batch_size_);
  const std::int64_t end = std::min(size, begin + batch_size_);
  std::vector<Draw> draws;
  for (std::int64_t i = begin; i < end; ++i) {
    draws.push_back({samples_[static_cast<std::size_t>(i)], 1.0F});
  }
  if (draws.empty()) draws.push_back({filler_, 0.0F});
  return draws;
}

/// Divides a list of samples among the ranks: rank r gets the positions bounds[r] to
/// bounds[r + 1] - 1 of the list. The last batch may be smaller. Samples that do not fit into
/// `steps` steps are left out.
struct Sampler::Deal {
  std::int64_t steps = 0;
  std::vector<std::int64_t> bounds;
  /// The position of a rank in its part after a number of steps.
  [[nodiscard]] std::int64_t position(std::size_t rank, std::int64_t batch_size,
                                      std::int64_t steps_done) const {
    return std::min(bounds[rank + 1], bounds[rank] + steps_done * batch_size);
  }
};

Sampler::Sampler(std::shared_ptr<const SampleIndex> index, SamplerOptions options)
    : index_(std::move(index)), options_(std::move(options)) {
  if (options_.shuffle_chunks < 1) {
    throw ConfigError("data.shuffle_chunks is {}, expected at least 1", options_.shuffle_chunks);
  }
  const std::int64_t samples = index_->num_samples();
  const auto ranks = static_cast<std::int64_t>(options_.batch_sizes.size());
  if (samples == 0) {
    throw DataError("{} has no samples; {}", index_->name(), index_->advice_when_empty());
  }
  if (samples < ranks) {
    throw DataError("{} has {} samples for {} ranks; use fewer ranks or more data", index_->name(),
                    samples, ranks);
  }
  if (steps_per_epoch() == 0) {
    throw DataError(
        "{} has {} samples, less than one step of all {} ranks ({}); lower data.batch_size or set "
        "data.drop_last = false",
        index_->name(), samples, ranks, sum(options_.batch_sizes));
  }
  if (options_.shards == Shards::kRegion) sort_by_region();
  Hasher hash;
  const std::array<std::uint64_t, 6> parts{index_->fingerprint(),
                                           static_cast<std::uint64_t>(options_.shuffle),
                                           static_cast<std::uint64_t>(options_.drop_last),
                                           static_cast<std::uint64_t>(options_.shuffle_chunks),
                                           options_.seed,
                                           static_cast<std::uint64_t>(options_.shards)};
  hash.update(std::as_bytes(std::span(parts)));
  fingerprint_ = hash.digest();
}

void Sampler::sort_by_region() {
  std::vector<std::pair<double, std::int64_t>> places;
  places.reserve(static_cast<std::size_t>(index_->num_samples()));
  for (std::int64_t s = 0; s < index_->num_samples(); ++s)
    places.emplace_back(index_->region(s), s);
  std::sort(places.begin(), places.end());
  by_region_.reserve(places.size());
  for (const auto& [region, sample] : places) by_region_.push_back(sample);
}

void Sampler::set_batch_sizes(std::vector<std::int64_t> sizes) {
  TRAFFIC_CHECK(
      sizes.size() == options_.batch_sizes.size() && sum(sizes) == sum(options_.batch_sizes),
      "the new batch sizes are for {} ranks with {} samples per step, expected {} ranks with {}",
      sizes.size(), sum(sizes), options_.batch_sizes.size(), sum(options_.batch_sizes));
  options_.batch_sizes = std::move(sizes);
}

std::int64_t Sampler::steps_per_epoch() const {
  return deal(index_->num_samples(), options_.batch_sizes).steps;
}

Sampler::Deal Sampler::deal(std::int64_t samples, std::span<const std::int64_t> batch_sizes) const {
  const std::int64_t step_size = sum(batch_sizes);
  Deal deal;
  deal.steps = options_.drop_last ? samples / step_size : (samples + step_size - 1) / step_size;
  std::int64_t running = 0;
  deal.bounds.push_back(0);
  for (const std::int64_t size : batch_sizes) {
    running += size;
    // Parts are proportional to batch sizes. With drop_last each rank has at least `steps` full
    // batches. Otherwise each rank has at least steps - 1 and at most `steps` batches.
    deal.bounds.push_back(
        static_cast<std::int64_t>(static_cast<__int128>(samples) * running / step_size));
  }
  return deal;
}

SamplerState Sampler::start(std::int64_t epoch) const {
  return {.epoch = epoch, .stages = {{options_.batch_sizes, 0}}, .fingerprint = fingerprint_};
}

SamplerState Sampler::resume(const SamplerState& saved) const {
  if (saved.fingerprint != fingerprint_) {
    throw DataError(
        "the sampler position was saved with other data or options (files, windows, "
        "seed, shuffle, shuffle_chunks, shards, drop_last), so the rest of its epoch cannot be "
        "found; use the same data and options, or start from the checkpoint's weights with "
        "run.init_from");
  }
  SamplerState state = saved;
  if (state.stages.back().batch_sizes == options_.batch_sizes) return state;
  if (state.stages.back().steps == 0) state.stages.pop_back();
  state.stages.push_back({options_.batch_sizes, 0});
  return state;
}

EpochShare Sampler::share(const SamplerState& state, std::int64_t rank) const {
  const auto r = static_cast<std::size_t>(rank);
  const auto& batch_sizes = state.stages.back().batch_sizes;
  TRAFFIC_CHECK(r < batch_sizes.size(),
                "rank {} does not exist: there are {} ranks, counted from 0", rank,
                batch_sizes.size());
  if (state.stages.size() == 1) {
    const Deal cut = deal(index_->num_samples(), batch_sizes);
    auto samples = first_order(state.epoch, cut.bounds[r], cut.bounds[r + 1]);
    return {std::move(samples), batch_sizes[r], cut.steps, 0};
  }
  SamplerState before = state;
  before.stages.pop_back();
  const auto left = left_over(before);
  const Deal cut = deal(static_cast<std::int64_t>(left.size()), batch_sizes);
  std::vector<std::int64_t> samples(left.begin() + cut.bounds[r], left.begin() + cut.bounds[r + 1]);
  return {std::move(samples), batch_sizes[r], cut.steps, left.empty() ? 0 : left.front()};
}

/// The samples of the epoch that no rank has used so far. A stage of the state is a part of the
/// epoch that ran with a fixed number of ranks. The samples are ordered by rank of the last stage,
/// and within a rank as that rank would have used them.
std::vector<std::int64_t> Sampler::left_over(const SamplerState& state) const {
  std::vector<std::int64_t> order;
  const std::int64_t all = index_->num_samples();
  for (std::size_t i = 0; i < state.stages.size(); ++i) {
    const auto& stage = state.stages[i];
    const Deal cut =
        deal(i == 0 ? all : static_cast<std::int64_t>(order.size()), stage.batch_sizes);
    std::vector<std::int64_t> left;
    for (std::size_t r = 0; r < stage.batch_sizes.size(); ++r) {
      const std::int64_t skip = cut.position(r, stage.batch_sizes[r], stage.steps) - cut.bounds[r];
      const auto part = i == 0 ? first_order(state.epoch, cut.bounds[r], cut.bounds[r + 1])
                               : std::vector<std::int64_t>(order.begin() + cut.bounds[r],
                                                           order.begin() + cut.bounds[r + 1]);
      left.insert(left.end(), part.begin() + skip, part.end());
    }
    order = std::move(left);
  }
  return order;
}

/// Positions begin to end - 1 of an epoch's list of samples, grouped by block. The blocks are in
/// the order in which a rank reads them.
std::vector<Sampler::BlockSamples> Sampler::run_of_blocks(std::int64_t epoch, std::int64_t begin,
                                                          std::int64_t end) const {
  Rng rng(derive_seed(options_.seed, {kBlockStream, static_cast<std::uint64_t>(epoch)}));
  if (options_.shards != Shards::kMixed) {
    auto run = fixed_run(begin, end);
    if (options_.shuffle) rng.shuffle(std::span(run));
    return run;
  }
  std::vector<std::int32_t> order(index_->blocks().size());
  std::iota(order.begin(), order.end(), 0);
  if (options_.shuffle) rng.shuffle(std::span(order));
  std::vector<BlockSamples> run;
  std::int64_t position = 0;
  for (const std::int32_t index : order) {
    const SampleBlock& block = index_->blocks()[static_cast<std::size_t>(index)];
    const std::int64_t first = std::max(begin - position, std::int64_t{0});
    const std::int64_t last = std::min(end - position, block.num_samples);
    position += block.num_samples;
    if (first >= last) continue;
    auto& samples = run.emplace_back(static_cast<std::size_t>(last - first));
    std::iota(samples.begin(), samples.end(), block.first_sample + first);
  }
  return run;
}

/// Does the same as run_of_blocks() for Shards::kTime and Shards::kRegion. With these options the
/// list of samples is the same in all epochs, and the blocks are in the order of recording.
std::vector<Sampler::BlockSamples> Sampler::fixed_run(std::int64_t begin, std::int64_t end) const {
  std::vector<std::int64_t> samples(static_cast<std::size_t>(end - begin));
  if (options_.shards == Shards::kTime) {
    std::iota(samples.begin(), samples.end(), begin);
  } else {
    std::copy(by_region_.begin() + begin, by_region_.begin() + end, samples.begin());
    std::sort(samples.begin(), samples.end());
  }
  std::vector<BlockSamples> run;
  auto block = index_->blocks().begin();
  for (auto at = samples.cbegin(); at != samples.cend();) {
    while (block->first_sample + block->num_samples <= *at) ++block;
    const auto after =
        std::lower_bound(at, samples.cend(), block->first_sample + block->num_samples);
    run.emplace_back(at, after);
    at = after;
  }
  return run;
}

/// The samples at positions begin to end - 1 of an epoch's list, in the order in which a rank uses
/// them in the first stage. They are mixed within a sliding window of shuffle_chunks blocks.
std::vector<std::int64_t> Sampler::first_order(std::int64_t epoch, std::int64_t begin,
                                               std::int64_t end) const {
  // The sort key of a sample is the position of its block plus a random number between 0 and
  // shuffle_chunks. The key is a fixed-point number: its upper 32 bits are whole blocks.
  struct Placed {
    std::uint64_t place;
    std::int64_t sample;
  };
  const auto seed = derive_seed(options_.seed, {kSampleStream, static_cast<std::uint64_t>(epoch)});
  const double window = static_cast<double>(options_.shuffle_chunks) * 0x1p32;
  std::vector<Placed> placed;
  placed.reserve(static_cast<std::size_t>(end - begin));
  std::uint64_t block_place = 0;
  for (const BlockSamples& block : run_of_blocks(epoch, begin, end)) {
    for (const std::int64_t s : block) {
      std::uint64_t place = block_place << 32;
      if (options_.shuffle) {
        Rng rng(derive_seed(seed, {static_cast<std::uint64_t>(s)}));
        place += static_cast<std::uint64_t>(rng.uniform() * window);
      }
      placed.push_back({place, s});
    }
    ++block_place;
  }
  std::sort(placed.begin(), placed.end(), [](const Placed& a, const Placed& b) {
    return a.place != b.place ? a.place < b.place : a.sample < b.sample;
  });
  std::vector<std::int64_t> samples;
  samples.reserve(placed.size());
  for (const auto& p : placed) samples.push_back(p.sample);
  return samples;
}

}  // namespace traffic::data
