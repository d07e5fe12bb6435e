/// Batches of one rank, decoded ahead by reader threads.
///
///     #include "traffic/data/traffic_batches.h"
///
///     void run_epoch(TrafficLoader& loader, std::int64_t epoch,
///                    const std::function<void(const Batch&)>& train) {
///       loader.start_epoch(epoch);
///       while (const std::optional<Batch> batch = loader.next()) train(*batch);
///     }
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/data/batch_source.h"
#include "traffic/data/sampler.h"

namespace traffic::data {

struct LoaderOptions {
  config::Data data;  ///< batch_size, shuffle, drop_last, num_workers, prefetch_factor,
                      ///< persistent_workers, shuffle_chunks, cache_mb, shards, rank_weights,
                      ///< max_bad_file_share
  std::uint64_t seed = 0;
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
};

/// Used by one thread. The batches depend on data, options and epoch only, not on the number of
/// reader threads nor on timing; all ranks get equally many. What they are is the source's.
/// cache_mb limits the memory that it takes: for decoded blocks, batches that were made ahead, and
/// what is being made.
class AnyLoader {
 public:
  /// @throws DataError, ConfigError as Sampler; ConfigError if cache_mb cannot hold the blocks that
  /// are in use at once
  AnyLoader(std::shared_ptr<const AnyBatchSource> source, const LoaderOptions& options);
  ~AnyLoader();
  AnyLoader(const AnyLoader&) = delete;
  AnyLoader& operator=(const AnyLoader&) = delete;

  /// Begins an epoch from its first step. Must come (or restore) before next().
  void start_epoch(std::int64_t epoch);
  /// Nothing more is wanted of this epoch: without persistent_workers, threads and decoded blocks
  /// are given up until another begins.
  void end_epoch();
  /// Other shares of the ranks, from the next start_epoch or restore on. Call it with the same on
  /// all ranks.
  /// @throws ConfigError if there is not one positive weight a rank
  void set_rank_weights(std::span<const double> weights);
  /// Goes on where state() was taken, with these ranks or others.
  /// @throws DataError if the state belongs to other data or options
  void restore(const SamplerState& state);

  /// After the batches that next() has returned; the same on all ranks that made as many steps.
  [[nodiscard]] SamplerState state() const;
  /// Steps of a whole epoch with these ranks.
  [[nodiscard]] std::int64_t steps_per_epoch() const;
  /// Steps that next() will still return in this epoch.
  [[nodiscard]] std::int64_t steps_left() const;
  /// Seconds that next() has waited for data since construction.
  [[nodiscard]] double wait_seconds() const;
  /// Blocks decoded since construction; more than the data set has means decoded again.
  [[nodiscard]] std::int64_t blocks_decoded() const;
  /// Blocks that were found damaged, and whose samples were replaced by those of other blocks.
  [[nodiscard]] std::int64_t num_bad_blocks() const;
  /// What was wrong with those found since this was asked for the last time, for the log.
  [[nodiscard]] std::vector<std::string> take_damage();

 protected:
  /// The next batch as the source made it; empty at the end of the epoch.
  [[nodiscard]] std::any next_any();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

template <typename B>
class DataLoader : public AnyLoader {
 public:
  DataLoader(std::shared_ptr<const BatchSource<B>> source, const LoaderOptions& options)
      : AnyLoader(std::move(source), options) {}

  /// The next batch, or nothing at the end of the epoch.
  /// @throws what the reader thread threw that was to make this batch; again when asked again,
  /// until an epoch begins or restore()
  [[nodiscard]] std::optional<B> next() {
    std::any batch = next_any();
    if (!batch.has_value()) return std::nullopt;
    return std::any_cast<B&&>(std::move(batch));
  }
};

}  // namespace traffic::data
