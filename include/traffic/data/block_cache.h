/// BlockCache keeps decoded blocks of a data set in memory, up to a limit in bytes. A block is a
/// group of samples that are read together (samples.h). The reader threads of the loader share it.
#pragma once

#include <cstdint>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "traffic/data/batch_source.h"

namespace traffic::data {

/// Thread-safe. Evicts the least recently used block first; an evicted block stays in memory until
/// its users release it.
class BlockCache {
 public:
  /// @param source decodes the blocks; must outlive this object
  BlockCache(const AnyBatchSource& source, std::int64_t limit_bytes)
      : source_(source), limit_bytes_(limit_bytes) {}

  /// Returns a block. Decodes it if it is not in the cache, or waits if another thread is decoding
  /// it.
  /// @throws DataError if the block cannot be decoded; the next call tries again
  [[nodiscard]] std::shared_ptr<const Block> get(std::int32_t block);
  /// get() with the type of block that the source decodes.
  template <typename T>
  [[nodiscard]] std::shared_ptr<const T> get_as(std::int32_t block) {
    return std::static_pointer_cast<const T>(get(block));
  }

  /// Lowers the limit by `bytes`, memory that is used for other purposes. A negative number raises
  /// the limit again. The block that was used last always stays in the cache.
  void reserve(std::int64_t bytes);
  /// Forgets all blocks.
  void clear();
  /// Number of times that a block was decoded. A block that is decoded twice counts twice.
  [[nodiscard]] std::int64_t blocks_decoded() const;

 private:
  using Future = std::shared_future<std::shared_ptr<const Block>>;
  struct Entry {
    Future future;
    std::list<std::int32_t>::iterator age;  ///< position in by_age_
    std::uint64_t ticket;                   ///< number of this decoding, counted from 1
  };

  void evict();
  void forget(std::int32_t block);
  [[nodiscard]] std::int64_t bytes_of(std::int32_t block) const {
    return source_.index().blocks()[static_cast<std::size_t>(block)].decoded_bytes;
  }

  const AnyBatchSource& source_;
  std::int64_t limit_bytes_;  ///< the limit less the reserved memory
  mutable std::mutex mutex_;
  std::unordered_map<std::int32_t, Entry> entries_;
  std::list<std::int32_t> by_age_;  ///< most recently used first
  std::int64_t bytes_ = 0;          ///< size of the blocks in the cache
  std::uint64_t tickets_ = 0;       ///< number of decodings so far
};

}  // namespace traffic::data
