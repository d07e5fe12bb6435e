/// DataLoader returns the batches of one rank, epoch by epoch. Its reader threads read files and
/// build batches in advance.
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
  config::Data data;  ///< the loader uses these members: batch_size, shuffle, drop_last,
                      ///< num_workers, prefetch_factor, persistent_workers, shuffle_chunks,
                      ///< cache_mb, shards, rank_weights, max_bad_file_share
  std::uint64_t seed = 0;
  std::int64_t rank = 0;
  std::int64_t world_size = 1;
};

/// The part of DataLoader that does not depend on the type of the batches. Only one thread may use
/// a loader. The batches depend only on data, options and epoch, not on the number of reader
/// threads or on timing. All ranks get equally many batches. data.cache_mb limits the memory of
/// decoded blocks, finished batches and batches that are being built.
class AnyLoader {
 public:
  /// @throws DataError or ConfigError as the constructor of Sampler does
  /// @throws ConfigError if data.cache_mb is too small for the blocks that are in use at once
  AnyLoader(std::shared_ptr<const AnyBatchSource> source, const LoaderOptions& options);
  ~AnyLoader();
  AnyLoader(const AnyLoader&) = delete;
  AnyLoader& operator=(const AnyLoader&) = delete;

  /// Begins an epoch from its first step. Call this or restore() before next().
  void start_epoch(std::int64_t epoch);
  /// Ends the epoch before its last step. If data.persistent_workers is off, the loader also ends
  /// its threads and releases decoded blocks; the next epoch starts new threads.
  void end_epoch();
  /// Changes how many samples of each step the ranks get, in proportion to the weights. It takes
  /// effect with the next start_epoch() or restore(). All ranks must pass the same weights.
  /// @throws ConfigError if there is not one positive weight for each rank
  void set_rank_weights(std::span<const double> weights);
  /// Continues from a position that state() returned. The number of ranks may be different.
  /// @throws DataError if the state belongs to other data or options
  void restore(const SamplerState& state);

  /// The position after the batches that next() has returned. It is the same on all ranks after the
  /// same number of steps.
  [[nodiscard]] SamplerState state() const;
  /// Number of steps of a whole epoch with these ranks.
  [[nodiscard]] std::int64_t steps_per_epoch() const;
  /// Number of batches that next() will still return in this epoch.
  [[nodiscard]] std::int64_t steps_left() const;
  /// Seconds that next() has waited for data since construction.
  [[nodiscard]] double wait_seconds() const;
  /// Number of times that a block was decoded since construction. If it exceeds the number of
  /// blocks in an epoch, blocks were decoded repeatedly.
  [[nodiscard]] std::int64_t blocks_decoded() const;
  /// Number of damaged blocks. Samples of other blocks replace their samples.
  [[nodiscard]] std::int64_t num_bad_blocks() const;
  /// Messages for the log on the damaged blocks found since the last call.
  [[nodiscard]] std::vector<std::string> take_damage();

 protected:
  /// Returns the next batch as the source made it; empty at the end of the epoch.
  [[nodiscard]] std::any next_any();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A loader whose batches have the type B.
template <typename B>
class DataLoader : public AnyLoader {
 public:
  DataLoader(std::shared_ptr<const BatchSource<B>> source, const LoaderOptions& options)
      : AnyLoader(std::move(source), options) {}

  /// Returns the next batch, or nothing at the end of the epoch.
  /// @throws the exception of the reader thread that failed to make this batch. Further calls throw
  ///   the same exception until start_epoch() or restore() is called
  [[nodiscard]] std::optional<B> next() {
    std::any batch = next_any();
    if (!batch.has_value()) return std::nullopt;
    return std::any_cast<B&&>(std::move(batch));
  }
};

}  // namespace traffic::data
