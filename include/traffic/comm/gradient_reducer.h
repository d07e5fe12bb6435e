/// GradientReducer averages the gradients of a model over all ranks, either after the backward pass
/// or while it is running. Training uses it in every update like this:
///
///     /// @return a result after the last of accumulation_steps backward passes, after which the
///     /// optimiser makes its step; nothing after the earlier passes
///     std::optional<ReduceResult> backward(GradientReducer& reducer, const at::Tensor& loss,
///                                          double num_samples) {
///       const double factor = reducer.before_backward(num_samples);
///       (factor == 1.0 ? loss : loss * factor).backward();
///       return reducer.after_backward();
///     }
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/comm/side_stream.h"

namespace traffic::comm {

/// The type in which ranks exchange gradients; kNone means float32.
enum class Compression : std::uint8_t { kNone, kFp16, kBf16 };

/// @throws ConfigError unless the name is none, fp16 or bf16
Compression parse_compression(std::string_view name);

/// Factor, at most 1, that clips a gradient of norm grad_norm to clip_norm.
double clip_factor(double grad_norm, double clip_norm);

struct GradientReducerOptions {
  std::int64_t accumulation_steps = 1;  ///< backward passes before each step of the optimiser
  Compression compression = Compression::kNone;
  double clip_norm = 0.0;  ///< maximum norm of the gradient; 0 means that it is not clipped
  /// Maximum size of a bucket, a group of gradients that are reduced together during the backward
  /// pass.
  double bucket_cap_mb = 25.0;
};

/// The result is equal on all ranks, so decisions based on it are equal, too.
struct ReduceResult {
  double grad_norm = 0.0;    ///< norm of the averaged gradient, before clipping
  double clip_factor = 1.0;  ///< factor that the caller applies to clip the gradient, <= 1
  /// False if the gradient contains NaN or infinity; the caller must then skip this update.
  bool finite = true;
};

class BucketReduction;

/// Keeps references to the communicator and the gradient arena; both must outlive the reducer.
class GradientReducer {
 public:
  /// Collective.
  /// @param side stream that reduces each bucket of gradients as soon as the bucket is ready,
  ///   during the backward pass. Null means one reduction after the backward pass. A job of one
  ///   rank ignores the stream. With a stream, no other code may use the communicator between
  ///   before_backward and after_backward of the last backward pass of an update.
  GradientReducer(Communicator& communicator, GradientArena& gradients,
                  GradientReducerOptions options, std::unique_ptr<SideStream> side = nullptr);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Declares parameters that backward will give no gradient from now on, so that no bucket waits
  /// for them. All ranks must pass the same names.
  /// @throws ShapeError for an unknown name, if the gradients are reduced during the backward pass
  void declare_unused(const std::vector<std::string>& names);

  /// Call it before every backward. Collective if there is a side stream.
  /// @param local_weight number of samples in this rank's batch; 0 on a rank that has no samples
  ///   left
  /// @param loss_scale factor of the loss; the same in all backward passes of an update
  /// @return factor to multiply the loss with before backward. Without gradient accumulation it is
  ///   loss_scale. With accumulation it is loss_scale times the weight of this backward pass
  ///   relative to the first one, because a gradient cannot be reweighted after it was added to
  ///   others
  [[nodiscard]] double before_backward(double local_weight, double loss_scale = 1.0);

  /// Call it after every backward pass, also after a pass that failed or was skipped. A pass
  /// without a call of before_backward() counts with weight 0. The call for the last of
  /// accumulation_steps passes is collective. The arena then becomes sum(w * g) / sum(w) over all
  /// backward passes of all ranks: the gradient of the joined batch. Here g is the gradient of one
  /// backward pass without its factor (the loss is a mean over samples), and w is the local_weight
  /// of this pass. The gradient is not clipped: the caller passes clip_factor to the optimiser for
  /// this.
  /// @return the result after the last pass; nothing after earlier passes, for which no rank
  ///   communicates
  std::optional<ReduceResult> after_backward();

  /// Replaces before_backward() and after_backward() for gradients that exist already and contain
  /// the factor loss_scale. Not available with accumulation.
  std::optional<ReduceResult> reduce(double local_weight = 1.0, double loss_scale = 1.0);

 private:
  [[nodiscard]] bool is_last_pass() const { return num_backwards_ == options_.accumulation_steps; }
  double total_scale();
  double reduce_full(double scale);
  double reduce_compressed(double scale);

  Communicator& communicator_;
  GradientArena& gradients_;
  GradientReducerOptions options_;
  at::Tensor
      compressed_;  ///< [P] the gradients in float16 or bfloat16; undefined without compression
  std::int64_t num_backwards_ = 0;
  bool announced_ = false;    ///< before_backward was called for this pass
  double weight_ = 0.0;       ///< summed over the backward passes of this update
  double unit_weight_ = 0.0;  ///< the first weight that is not 0; other weights are relative to it
  double loss_scale_ = 1.0;
  /// Reduces during the backward pass. Null means one reduction after the backward pass.
  std::unique_ptr<BucketReduction> buckets_;
};

}  // namespace traffic::comm
