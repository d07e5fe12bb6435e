/// Reduces a gradient arena in buckets while backward goes on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "gradient_buckets.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/comm/side_stream.h"

namespace traffic::comm {

/// Hooks on the parameters tell when autograd has added a gradient to the arena; a complete bucket
/// is scaled and reduced on the side stream. The order of the buckets is that of the arena from its
/// end in the first pass, then the one in which they became complete in it on rank 0.
class BucketReduction {
 public:
  /// @param compressed a tensor as long as the arena in a half type, or undefined
  BucketReduction(Communicator& communicator, GradientArena& gradients, at::Tensor compressed,
                  std::unique_ptr<SideStream> side, double bucket_cap_mb);
  /// The parameters keep no hooks.
  ~BucketReduction();
  BucketReduction(const BucketReduction&) = delete;
  BucketReduction& operator=(const BucketReduction&) = delete;

  void declare_unused(const std::vector<std::string>& names);
  /// From here on gradients are multiplied by scale and reduced as they come.
  void start(double scale);
  /// Reduces what is left; the arena is the sum over ranks then.
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
  std::vector<bool> is_unused_;  ///< [parameters]
  double scale_ = 1.0;
  bool running_ = false;
  bool has_order_ = false;
  std::unique_ptr<SideStream> side_;  ///< last, so that its work ends before what it uses
};

}  // namespace traffic::comm
