/// Divides the gradient arena, the flat tensor that contains all gradients, into buckets. These are
/// ranges that BucketReduction reduces one by one during the backward pass. Also decides in which
/// order the buckets are reduced.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "traffic/comm/flat_arena.h"

namespace traffic::comm {

/// A range of the flat tensor that contains whole parameters.
struct Bucket {
  std::int64_t offset = 0;  ///< begin of the bucket in the arena, in elements
  std::int64_t numel = 0;   ///< number of elements, including the padding behind each parameter
  std::size_t first_parameter = 0;
  std::size_t num_parameters = 0;
};

/// Maximum size of the first bucket. It is small, so that the first reduction starts early.
inline constexpr std::int64_t kFirstBucketBytes = std::int64_t{1} << 20;

/// Cuts the arena into buckets from its end, because backward reaches the last parameters first. A
/// bucket has at most cap_bytes; the first bucket has at most the smaller of cap_bytes and
/// kFirstBucketBytes. A parameter that is larger than this limit has a bucket of its own.
/// @param flat_numel number of elements of the arena
std::vector<Bucket> cut_buckets(const std::vector<ArenaEntry>& entries, std::int64_t flat_numel,
                                std::int64_t cap_bytes);

/// Decides which buckets may be reduced. All ranks reduce the buckets in the same order, order(). A
/// bucket that becomes complete earlier waits for the buckets before it in this order.
class BucketQueue {
 public:
  explicit BucketQueue(const std::vector<Bucket>& buckets);

  /// Starts a backward pass.
  /// @param is_unused [parameters] true if backward gives the parameter no gradient, so that no
  ///   bucket waits for it
  void start(const std::vector<bool>& is_unused);
  /// Records that a parameter has its gradient.
  /// @return indices of the buckets that may be reduced now, in order
  /// @throws Error for a parameter that was marked ready before
  std::vector<std::size_t> mark_ready(std::size_t parameter);
  /// Ends the pass. @return the remaining buckets, in order
  std::vector<std::size_t> finish();

  /// The buckets in the order in which they became complete in the last pass. Buckets that did not
  /// become complete come last.
  [[nodiscard]] std::vector<std::size_t> completion_order() const;
  /// @param order a permutation of the buckets
  void set_order(std::vector<std::size_t> order);
  [[nodiscard]] const std::vector<std::size_t>& order() const { return order_; }

 private:
  void complete(std::size_t bucket) { completed_.push_back(bucket); }
  std::vector<std::size_t> take_ready();

  std::vector<std::size_t> bucket_of_;  ///< [parameters] index of the parameter's bucket
  std::vector<std::size_t> sizes_;      ///< [buckets] number of parameters
  std::vector<std::size_t> order_;      ///< [buckets] bucket indices, first to reduce first
  std::vector<bool> ready_;             ///< [parameters] whether it has its gradient or needs none
  std::vector<std::size_t> missing_;    ///< [buckets] number of parameters that are not ready
  std::vector<std::size_t> completed_;
  std::size_t next_ = 0;  ///< position in order_ of the next bucket to reduce
};

}  // namespace traffic::comm
