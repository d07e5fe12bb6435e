// DataLoader: reader threads that decode blocks and build the batches of a rank in advance.
#include "traffic/data/loader.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "bad_blocks.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/data/block_cache.h"

namespace traffic::data {
namespace {

/// Bytes for cached blocks and finished batches: three quarters of data.cache_mb. The last quarter
/// is for decoded chunks, for batches that are being built, and for memory that the allocator does
/// not return to the system.
std::int64_t kept_bytes(const config::Data& data) {
  constexpr std::int64_t kMiB = 1024 * 1024;
  return data.cache_mb * kMiB / 4 * 3;
}

/// Number of blocks that a batch may need: those in the sampler's sliding window, one block that
/// enters it and one that leaves it.
std::int64_t blocks_in_use(const config::Data& data) {
  return (data.shuffle ? data.shuffle_chunks : 1) + 2;
}

void check_cache(const SampleIndex& index, const config::Data& data) {
  std::vector<std::int64_t> bytes;
  for (const auto& block : index.blocks()) bytes.push_back(block.decoded_bytes);
  std::sort(bytes.rbegin(), bytes.rend());
  const auto in_use = std::min(
      bytes.size(), static_cast<std::size_t>(std::max(blocks_in_use(data), std::int64_t{1})));
  std::int64_t needed = 0;
  for (std::size_t i = 0; i < in_use; ++i) needed += bytes[i];
  if (needed > kept_bytes(data)) {
    constexpr std::int64_t kKeptOfAMiB = 1024 * 1024 / 4 * 3;
    throw ConfigError(
        "data.cache_mb is {}, but shuffling over data.shuffle_chunks = {} blocks of this data set "
        "needs at least {}; raise data.cache_mb or lower data.shuffle_chunks",
        data.cache_mb, data.shuffle_chunks, needed / kKeptOfAMiB + 1);
  }
}

SamplerOptions sampler_options(const LoaderOptions& options) {
  return {.batch_sizes = rank_batch_sizes(options.data.batch_size, options.world_size,
                                          options.data.rank_weights),
          .shards = parse_shards(options.data.shards),
          .shuffle = options.data.shuffle,
          .drop_last = options.data.drop_last,
          .shuffle_chunks = options.data.shuffle_chunks,
          .seed = options.seed};
}

/// Pointer to the source's index that also keeps the source alive.
std::shared_ptr<const SampleIndex> index_of(const std::shared_ptr<const AnyBatchSource>& source) {
  return {source, &source->index()};
}

}  // namespace

struct AnyLoader::Impl {
  /// The result of building one batch: the batch or an exception.
  struct Outcome {
    std::any batch;
    std::int64_t bytes = 0;
    std::exception_ptr error;
  };

  Impl(std::shared_ptr<const AnyBatchSource> batch_source, const LoaderOptions& loader_options);
  ~Impl();

  void begin(const SamplerState& new_state);
  void end();
  void start_threads();
  void stop_threads();
  void drop_outcomes();
  void read_ahead();
  [[nodiscard]] Outcome make(const EpochShare& from, std::int64_t epoch, std::int64_t step);
  [[nodiscard]] Outcome wait_for_next();

  LoaderOptions options;
  std::shared_ptr<const AnyBatchSource> source;
  Sampler sampler;
  BlockCache cache;
  BadBlocks bad_blocks;
  std::int64_t ahead;  ///< largest number of finished batches that wait for next()

  // State of the thread that uses the loader.
  SamplerState state;
  std::int64_t next_out = 0;  ///< step whose batch next() returns next
  double wait_seconds = 0;

  std::mutex mutex;
  std::condition_variable work;   ///< wakes reader threads when there may be work
  std::condition_variable ready;  ///< wakes next() when an outcome arrives
  std::shared_ptr<const EpochShare> share;
  /// Number of values that `share` has had. Outcomes for an earlier value are dropped.
  std::int64_t generation = 0;
  std::int64_t epoch = 0;
  std::int64_t next_task = 0;                ///< step whose batch a reader thread builds next
  std::int64_t given_out = 0;                ///< copy of next_out for the reader threads
  std::map<std::int64_t, Outcome> outcomes;  ///< finished batches, by step
  bool stop = false;
  std::vector<std::thread> threads;
};

AnyLoader::Impl::Impl(std::shared_ptr<const AnyBatchSource> batch_source,
                      const LoaderOptions& loader_options)
    : options(loader_options),
      source(std::move(batch_source)),
      sampler(index_of(source), sampler_options(loader_options)),
      cache(*source, kept_bytes(loader_options.data)),
      bad_blocks(source->index(), loader_options.data.max_bad_file_share),
      ahead(loader_options.data.num_workers * loader_options.data.prefetch_factor) {
  const auto& data = options.data;
  if (options.rank < 0 || options.rank >= options.world_size) {
    throw ConfigError("rank {} does not exist: there are {} ranks, counted from 0", options.rank,
                      options.world_size);
  }
  if (data.num_workers < 0 || (data.num_workers > 0 && data.prefetch_factor < 1)) {
    throw ConfigError(
        "data.num_workers is {} and data.prefetch_factor {}; expected at least 0 and at least 1",
        data.num_workers, data.prefetch_factor);
  }
  check_cache(source->index(), data);
}

AnyLoader::Impl::~Impl() { stop_threads(); }

void AnyLoader::Impl::start_threads() {
  if (!threads.empty()) return;
  stop = false;
  for (std::int64_t i = 0; i < options.data.num_workers; ++i) {
    threads.emplace_back([this] { read_ahead(); });
  }
}

void AnyLoader::Impl::stop_threads() {
  {
    const std::lock_guard lock(mutex);
    stop = true;
  }
  work.notify_all();
  for (auto& thread : threads) thread.join();
  threads.clear();
}

/// Discards the finished batches. The caller must hold the mutex if there are threads.
void AnyLoader::Impl::drop_outcomes() {
  for (const auto& [step, outcome] : outcomes) cache.reserve(-outcome.bytes);
  outcomes.clear();
}

void AnyLoader::Impl::begin(const SamplerState& new_state) {
  auto new_share = std::make_shared<const EpochShare>(sampler.share(new_state, options.rank));
  state = new_state;
  next_out = state.stages.back().steps;
  {
    const std::lock_guard lock(mutex);
    share = std::move(new_share);
    epoch = state.epoch;
    next_task = given_out = next_out;
    drop_outcomes();
    ++generation;
  }
  start_threads();
  work.notify_all();
}

void AnyLoader::Impl::end() {
  if (options.data.persistent_workers) return;
  stop_threads();
  share.reset();
  ++generation;
  drop_outcomes();
  cache.clear();
}

AnyLoader::Impl::Outcome AnyLoader::Impl::make(const EpochShare& from, std::int64_t of_epoch,
                                               std::int64_t step) {
  Outcome outcome;
  try {
    const auto draws = from.draws(step);
    // If no block may be damaged, bad_blocks is not needed: build_any() throws for a damaged block.
    outcome.batch = options.data.max_bad_file_share > 0
                        ? source->build_any(bad_blocks.replace(draws, cache), of_epoch, cache)
                        : source->build_any(draws, of_epoch, cache);
    outcome.bytes = source->bytes_of_any(outcome.batch);
  } catch (...) {
    outcome.error = std::current_exception();
  }
  return outcome;
}

void AnyLoader::Impl::read_ahead() {
  std::unique_lock lock(mutex);
  while (true) {
    work.wait(lock, [&] {
      return stop ||
             (share != nullptr && next_task < share->steps() && next_task < given_out + ahead);
    });
    if (stop) return;
    const std::int64_t step = next_task++;
    const std::int64_t my_generation = generation;
    const std::int64_t my_epoch = epoch;
    const auto my_share = share;
    lock.unlock();
    Outcome outcome = make(*my_share, my_epoch, step);
    lock.lock();
    if (my_generation == generation) {
      cache.reserve(outcome.bytes);
      outcomes.emplace(step, std::move(outcome));
      ready.notify_one();
    }
  }
}

AnyLoader::Impl::Outcome AnyLoader::Impl::wait_for_next() {
  if (options.data.num_workers == 0) return make(*share, epoch, next_out);
  std::unique_lock lock(mutex);
  ready.wait(lock, [&] { return outcomes.contains(next_out); });
  // An error stays in `outcomes` for further calls, because no thread builds this batch again.
  const auto found = outcomes.find(next_out);
  if (found->second.error) return {.batch = {}, .error = found->second.error};
  auto node = outcomes.extract(found);
  cache.reserve(-node.mapped().bytes);
  given_out = next_out + 1;
  lock.unlock();
  work.notify_one();
  return std::move(node.mapped());
}

AnyLoader::AnyLoader(std::shared_ptr<const AnyBatchSource> source, const LoaderOptions& options)
    : impl_(std::make_unique<Impl>(std::move(source), options)) {}

AnyLoader::~AnyLoader() = default;

void AnyLoader::start_epoch(std::int64_t epoch) { impl_->begin(impl_->sampler.start(epoch)); }

void AnyLoader::end_epoch() { impl_->end(); }

void AnyLoader::set_rank_weights(std::span<const double> weights) {
  impl_->sampler.set_batch_sizes(
      rank_batch_sizes(impl_->options.data.batch_size, impl_->options.world_size, weights));
}

void AnyLoader::restore(const SamplerState& state) { impl_->begin(impl_->sampler.resume(state)); }

std::any AnyLoader::next_any() {
  TRAFFIC_CHECK(impl_->share != nullptr, "next() was called before start_epoch() or restore()");
  if (steps_left() == 0) return {};
  const Stopwatch watch;
  auto outcome = impl_->wait_for_next();
  impl_->wait_seconds += watch.seconds();
  if (outcome.error) std::rethrow_exception(outcome.error);
  ++impl_->next_out;
  impl_->state.stages.back().steps = impl_->next_out;
  return std::move(outcome.batch);
}

SamplerState AnyLoader::state() const { return impl_->state; }
std::int64_t AnyLoader::steps_per_epoch() const { return impl_->sampler.steps_per_epoch(); }
std::int64_t AnyLoader::steps_left() const {
  return impl_->share == nullptr ? 0 : impl_->share->steps() - impl_->next_out;
}
double AnyLoader::wait_seconds() const { return impl_->wait_seconds; }
std::vector<std::string> AnyLoader::take_damage() { return impl_->bad_blocks.take_messages(); }
std::int64_t AnyLoader::num_bad_blocks() const { return impl_->bad_blocks.num_found(); }
std::int64_t AnyLoader::blocks_decoded() const { return impl_->cache.blocks_decoded(); }

}  // namespace traffic::data
