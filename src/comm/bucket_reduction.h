/// BucketReduction sums the gradients of all ranks while backward is running. It divides the arena,
/// the tensor that contains all gradients, into buckets (ranges of consecutive parameters). It
/// reduces a bucket when autograd has completed the bucket's gradients. GradientReducer uses
/// BucketReduction if the device has a side stream: a CUDA stream or a thread on which reductions
/// run while backward continues.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gradient_buckets.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/comm/side_stream.h"

namespace traffic::comm {

/// Hooks on the parameters report when autograd has added a gradient to the arena. A complete
/// bucket is scaled and reduced on the side stream. In the first backward pass the buckets are
/// reduced from the end of the arena to its beginning. In later passes they are reduced in the
/// order in which they became complete on rank 0 in the first pass.
class BucketReduction {
 public:
  /// @param compressed a tensor of the arena's length in a 16-bit type, or undefined
  BucketReduction(Communicator& communicator, GradientArena& gradients, at::Tensor compressed,
                  std::unique_ptr<SideStream> side, double bucket_cap_mb);
  /// Removes the hooks from the parameters.
  ~BucketReduction();
  BucketReduction(const BucketReduction&) = delete;
  BucketReduction& operator=(const BucketReduction&) = delete;

  /// See GradientReducer::declare_unused().
  void declare_unused(const std::vector<std::string>& names);
  /// From now on each bucket is multiplied by scale and reduced as soon as its gradients are
  /// complete.
  void start(double scale);
  /// Reduces the remaining buckets; afterwards the arena contains the sum over ranks.
  void finish();

 private:
  class ReadyHook;
  void on_ready(std::size_t parameter);
  void launch(const std::vector<std::size_t>& buckets);
  void reduce(const Bucket& bucket) const;
  void learn_order();

  Communicator& communicator_;
  GradientArena& gradients_;
  at::Tensor compressed_;
  std::vector<Bucket> buckets_;
  BucketQueue queue_;
  std::vector<bool> is_unused_;  ///< [parameters] true if backward computes no gradient for it
  double scale_ = 1.0;
  bool running_ = false;
  bool has_order_ = false;            ///< whether rank 0's order of the buckets is in use
  std::unique_ptr<SideStream> side_;  ///< declared last: its work must end before the members that
                                      ///< it uses are destroyed
};

}  // namespace traffic::comm
