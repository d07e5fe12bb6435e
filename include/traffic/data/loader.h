/// Loads the batches of one rank with reader threads that work ahead.
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

/// For use by one thread. The batches depend only on data, options and epoch, not on the number of
/// reader threads or on timing. All ranks get equally many batches. cache_mb limits the memory of
/// decoded blocks, of batches that wait, and of batches in the making.
class AnyLoader {
 public:
  /// @throws DataError, ConfigError as Sampler; ConfigError if cache_mb is too small for the blocks
  ///   that are in use at once
  AnyLoader(std::shared_ptr<const AnyBatchSource> source, const LoaderOptions& options);
  ~AnyLoader();
  AnyLoader(const AnyLoader&) = delete;
  AnyLoader& operator=(const AnyLoader&) = delete;

  /// Begins an epoch from its first step. Call this or restore() before next().
  void start_epoch(std::int64_t epoch);
  /// Ends the epoch before its last step. Without persistent_workers, the loader releases threads
  /// and decoded blocks until the next epoch begins.
  void end_epoch();
  /// Changes the shares of the ranks from the next start_epoch() or restore() on. All ranks must
  /// pass the same weights.
  /// @throws ConfigError if there is not one positive weight a rank
  void set_rank_weights(std::span<const double> weights);
  /// Continues where state() was taken, with the same number of ranks or another.
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
  /// Number of decodings since construction; more than the data set has blocks means that some were
  /// decoded again.
  [[nodiscard]] std::int64_t blocks_decoded() const;
  /// Number of damaged blocks; samples of other blocks replace theirs.
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

template <typename B>
class DataLoader : public AnyLoader {
 public:
  DataLoader(std::shared_ptr<const BatchSource<B>> source, const LoaderOptions& options)
      : AnyLoader(std::move(source), options) {}

  /// Returns the next batch, or nothing at the end of the epoch.
  /// @throws the exception of the reader thread that failed to make this batch; every further call
  /// throws it again, until start_epoch() or restore()
  [[nodiscard]] std::optional<B> next() {
    std::any batch = next_any();
    if (!batch.has_value()) return std::nullopt;
    return std::any_cast<B&&>(std::move(batch));
  }
};

}  // namespace traffic::data
