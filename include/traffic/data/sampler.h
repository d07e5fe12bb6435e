/// Sampler decides which samples each rank gets in each step of an epoch. The loader uses it.
///
/// All samples form a list. Each rank gets a consecutive part of the list, whose length is
/// proportional to the rank's batch size. The configuration (data.shards) chooses the order:
/// - kMixed: the list consists of whole blocks of samples (samples.h), shuffled for each epoch. Two
///   ranks share at most one block.
/// - kTime: the samples are in the order of recording. A rank has the same blocks in each epoch.
/// - kRegion: the samples are sorted by their part of the road. A rank needs all blocks, but sees
///   the same part of the road in each epoch.
///
/// The blocks of a rank's part are shuffled. A window of shuffle_chunks blocks slides over them,
/// and samples are mixed within the window. After the window has passed, a rank does not need a
/// block again in this epoch, so the block is decoded only once. The order depends only on seed,
/// epoch and batch sizes, not on the number of reader threads.
///
/// All ranks have equally many steps:
/// - If drop_last is true, an epoch has only steps that all ranks can fill. The samples at the end
///   of each rank's order are left out. If samples are shuffled, different samples are left out in
///   each epoch.
/// - Otherwise the last step may be smaller. A rank that has no sample left repeats a sample with
///   weight 0. Each sample has weight 1 exactly once in an epoch.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/data/samples.h"

namespace traffic::data {

enum class Shards { kMixed, kTime, kRegion };
/// @param name a value of the configuration key data.shards
/// @throws ConfigError for another name
[[nodiscard]] Shards parse_shards(std::string_view name);

struct SamplerOptions {
  std::vector<std::int64_t> batch_sizes;  ///< [ranks] samples per step
  Shards shards = Shards::kMixed;
  bool shuffle = true;
  bool drop_last = true;
  std::int64_t shuffle_chunks = 8;
  std::uint64_t seed = 0;
};

/// Number of samples that each rank gets in a step. The numbers are proportional to the weights, at
/// least 1, and their average is batch_size.
/// @param weights one for each rank; empty means equal numbers
/// @throws ConfigError if the weights are neither empty nor one positive weight for each rank
[[nodiscard]] std::vector<std::int64_t> rank_batch_sizes(std::int64_t batch_size,
                                                         std::int64_t world_size,
                                                         std::span<const double> weights);

/// Position within an epoch, the same on all ranks. Checkpoints contain it. An epoch consists of
/// stages: when training continues with another number of ranks, a new stage begins, and the
/// sampler distributes the remaining samples to the new ranks.
struct SamplerState {
  struct Stage {
    std::vector<std::int64_t> batch_sizes;
    std::int64_t steps = 0;  ///< completed steps
    bool operator==(const Stage&) const = default;
  };
  std::int64_t epoch = 0;
  std::vector<Stage> stages;      ///< at least one; the last stage is the running one
  std::uint64_t fingerprint = 0;  ///< hash of the data and options that decide the order

  /// Encodes the state as a list of numbers, for a checkpoint.
  [[nodiscard]] std::vector<std::int64_t> encode() const;
  /// @throws DataError if the numbers do not encode a state
  [[nodiscard]] static SamplerState decode(std::span<const std::int64_t> numbers);
  bool operator==(const SamplerState&) const = default;
};

/// The samples of one rank in the running stage of an epoch, step by step.
class EpochShare {
 public:
  EpochShare(std::vector<std::int64_t> samples, std::int64_t batch_size, std::int64_t steps,
             std::int64_t filler)
      : samples_(std::move(samples)), batch_size_(batch_size), steps_(steps), filler_(filler) {}
  [[nodiscard]] std::int64_t steps() const { return steps_; }
  /// @param step 0 .. steps() - 1
  [[nodiscard]] std::vector<Draw> draws(std::int64_t step) const;

 private:
  std::vector<std::int64_t> samples_;
  std::int64_t batch_size_;
  std::int64_t steps_;
  std::int64_t filler_;  ///< the sample that is repeated with weight 0 when no sample is left
};

class Sampler {
 public:
  /// @throws DataError if there are no samples or fewer samples than ranks, or if drop_last is true
  ///   and the samples do not fill one step
  /// @throws ConfigError if an option is out of range
  Sampler(std::shared_ptr<const SampleIndex> index, SamplerOptions options);

  /// Changes the batch sizes of epochs that start or resume from now on.
  /// @param sizes one for each rank, with the same sum as before
  void set_batch_sizes(std::vector<std::int64_t> sizes);
  /// Steps of a whole epoch with these ranks.
  [[nodiscard]] std::int64_t steps_per_epoch() const;
  [[nodiscard]] SamplerState start(std::int64_t epoch) const;
  /// The state that continues a saved one, possibly with another number of ranks.
  /// @throws DataError if `saved` was made with other data or options
  [[nodiscard]] SamplerState resume(const SamplerState& saved) const;
  /// The share of a rank in the running stage of the state.
  [[nodiscard]] EpochShare share(const SamplerState& state, std::int64_t rank) const;

 private:
  struct Deal;
  void sort_by_region();
  [[nodiscard]] Deal deal(std::int64_t samples, std::span<const std::int64_t> batch_sizes) const;
  [[nodiscard]] std::vector<std::int64_t> first_order(std::int64_t epoch, std::int64_t begin,
                                                      std::int64_t end) const;
  /// The samples of one block in the order of their draws.
  using BlockSamples = std::vector<std::int64_t>;
  [[nodiscard]] std::vector<BlockSamples> run_of_blocks(std::int64_t epoch, std::int64_t begin,
                                                        std::int64_t end) const;
  [[nodiscard]] std::vector<BlockSamples> fixed_run(std::int64_t begin, std::int64_t end) const;
  [[nodiscard]] std::vector<std::int64_t> left_over(const SamplerState& state) const;

  std::shared_ptr<const SampleIndex> index_;
  SamplerOptions options_;
  std::vector<std::int64_t> by_region_;  ///< all samples, with Shards::kRegion
  std::uint64_t fingerprint_;
};

}  // namespace traffic::data
