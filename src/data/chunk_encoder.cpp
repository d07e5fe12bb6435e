// ChunkEncoder: compresses chunks in several threads, in a fixed order (chunk_encoder.h).
#include "chunk_encoder.h"

#include <utility>

namespace traffic::data {
namespace {

constexpr std::size_t kChunksPerThread = 4;

}  // namespace

ChunkEncoder::ChunkEncoder(int compression_level, int num_threads)
    : level_(compression_level),
      most_on_their_way_(kChunksPerThread * static_cast<std::size_t>(num_threads)),
      packer_(compression_level) {
  threads_.reserve(static_cast<std::size_t>(num_threads));
  for (int i = 0; i < num_threads; ++i) threads_.emplace_back([this] { work(); });
}

ChunkEncoder::~ChunkEncoder() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  given_.notify_all();
  for (auto& thread : threads_) thread.join();
}

void ChunkEncoder::give(Chunk chunk) {
  if (threads_.empty()) {
    packer_.pack(chunk.bytes, chunk.element_size);
    jobs_.push_back({.chunk = std::move(chunk), .done = true, .failure = nullptr});
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    jobs_.push_back({.chunk = std::move(chunk), .done = false, .failure = nullptr});
    todo_.push_back(&jobs_.back());
  }
  given_.notify_one();
}

bool ChunkEncoder::take(Chunk& packed, bool all) {
  std::unique_lock lock(mutex_);
  if (jobs_.empty()) return false;
  const bool wait = all || jobs_.size() > most_on_their_way_;
  if (wait) packed_.wait(lock, [&] { return jobs_.front().done; });
  if (!jobs_.front().done) return false;
  if (jobs_.front().failure) std::rethrow_exception(jobs_.front().failure);
  packed = std::move(jobs_.front().chunk);
  jobs_.pop_front();
  return true;
}

void ChunkEncoder::work() {
  ChunkPacker packer(level_);
  std::unique_lock lock(mutex_);
  while (true) {
    given_.wait(lock, [&] { return stop_ || !todo_.empty(); });
    if (stop_) return;
    Job& job = *todo_.front();
    todo_.pop_front();
    lock.unlock();
    std::exception_ptr failure;
    try {
      packer.pack(job.chunk.bytes, job.chunk.element_size);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    job.failure = failure;
    job.done = true;
    packed_.notify_one();
  }
}

}  // namespace traffic::data
