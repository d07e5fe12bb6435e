/// Which parts of a gradient arena travel together, and when.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traffic/comm/flat_arena.h"

namespace traffic::comm {

/// A part of the flat tensor that holds whole parameters.
struct Bucket {
  std::int64_t offset = 0;  ///< in elements
  std::int64_t numel = 0;   ///< gaps behind its parameters included
  std::size_t first_parameter = 0;
  std::size_t num_parameters = 0;
};

/// The first bucket is small, so that the first reduction starts early.
inline constexpr std::int64_t kFirstBucketBytes = std::int64_t{1} << 20;

/// Cuts the arena from its end, for backward reaches the last parameters first. A bucket has at
/// most cap_bytes (the first kFirstBucketBytes, if that is less), or one larger parameter.
/// @param flat_numel elements of the arena
std::vector<Bucket> cut_buckets(const std::vector<ArenaEntry>& entries, std::int64_t flat_numel,
                                std::int64_t cap_bytes);

/// Tells which buckets may go. All ranks let buckets go in the same order, whatever the order in
/// which they become complete there: the order is given, and a complete bucket waits for those
/// before it.
class BucketQueue {
 public:
  explicit BucketQueue(const std::vector<Bucket>& buckets);

  /// Begins a backward pass. @param is_unused of each parameter: gets no gradient, does not count
  void start(const std::vector<bool>& is_unused);
  /// @return buckets that may go now, in order
  /// @throws Error for a parameter that was ready before
  std::vector<std::size_t> mark_ready(std::size_t parameter);
  /// Ends the pass. @return the buckets that are left, in order
  std::vector<std::size_t> finish();

  /// The buckets as they became complete in the last pass; those that did not, last.
  [[nodiscard]] std::vector<std::size_t> completion_order() const;
  /// @param order a permutation of the buckets
  void set_order(std::vector<std::size_t> order);
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }

 private:
  void complete(std::size_t bucket) { completed_.push_back(bucket); }
  std::vector<std::size_t> take_ready();

  std::vector<std::size_t> bucket_of_;  ///< [parameters]
  std::vector<std::size_t> sizes_;      ///< [buckets] parameters
  std::vector<std::size_t> order_;
  std::vector<bool> ready_;           ///< [parameters]
  std::vector<std::size_t> missing_;  ///< [buckets] parameters that are not ready
  std::vector<std::size_t> completed_;
  std::size_t next_ = 0;  ///< in order_
};

}  // namespace traffic::comm
