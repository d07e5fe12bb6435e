// BlockCache: keeps decoded blocks of a data set in memory, up to a limit in bytes.
#include "traffic/data/block_cache.h"

#include <utility>

namespace traffic::data {

std::shared_ptr<const Block> BlockCache::get(std::int32_t block) {
  std::unique_lock lock(mutex_);
  if (const auto found = entries_.find(block); found != entries_.end()) {
    by_age_.splice(by_age_.begin(), by_age_, found->second.age);
    const Future future = found->second.future;
    lock.unlock();
    return future.get();
  }
  std::promise<std::shared_ptr<const Block>> promise;
  const std::uint64_t ticket = ++tickets_;
  by_age_.push_front(block);
  entries_.emplace(block, Entry{promise.get_future().share(), by_age_.begin(), ticket});
  bytes_ += bytes_of(block);
  evict();
  lock.unlock();
  try {
    auto decoded = source_.decode(block);
    promise.set_value(decoded);
    return decoded;
  } catch (...) {
    promise.set_exception(std::current_exception());
    lock.lock();
    const auto found = entries_.find(block);
    if (found != entries_.end() && found->second.ticket == ticket) forget(block);
    throw;
  }
}

void BlockCache::evict() {
  while (bytes_ > limit_bytes_ && by_age_.size() > 1) forget(by_age_.back());
}

void BlockCache::forget(std::int32_t block) {
  const auto found = entries_.find(block);
  by_age_.erase(found->second.age);
  entries_.erase(found);
  bytes_ -= bytes_of(block);
}

void BlockCache::reserve(std::int64_t bytes) {
  const std::lock_guard lock(mutex_);
  limit_bytes_ -= bytes;
  evict();
}

void BlockCache::clear() {
  const std::lock_guard lock(mutex_);
  entries_.clear();
  by_age_.clear();
  bytes_ = 0;
}

std::int64_t BlockCache::blocks_decoded() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(tickets_);
}

}  // namespace traffic::data
