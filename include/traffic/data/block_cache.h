/// Keeps decoded blocks for several reader threads within a limit of bytes.
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
  /// @param source must outlive this
  BlockCache(const AnyBatchSource& source, std::int64_t limit_bytes)
      : source_(source), limit_bytes_(limit_bytes) {}

  /// Returns a block; decodes it if it is not kept, or waits for the thread that decodes it.
  /// @throws DataError if it cannot be decoded; the next call tries again
  [[nodiscard]] std::shared_ptr<const Block> get(std::int32_t block);
  /// get() with the type of block that the source decodes.
  template <typename T>
  [[nodiscard]] std::shared_ptr<const T> get_as(std::int32_t block) {
    return std::static_pointer_cast<const T>(get(block));
  }

  /// Lowers the limit by memory that is used for other purposes; a negative number raises it again.
  /// The block that was used last stays in any case.
  void reserve(std::int64_t bytes);
  /// Forgets all blocks.
  void clear();
  /// Number of decodings so far; a block that is decoded again counts again.
  [[nodiscard]] std::int64_t blocks_decoded() const;

 private:
  using Future = std::shared_future<std::shared_ptr<const Block>>;
  struct Entry {
    Future future;
    std::list<std::int32_t>::iterator age;
    std::uint64_t ticket;
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
  std::int64_t bytes_ = 0;
  std::uint64_t tickets_ = 0;  ///< blocks decoded
};

}  // namespace traffic::data
