/// Averages the gradients of all ranks, after backward or while it goes on.
///
///     /// @return a result after the last of accumulation_steps: it is time to step
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

enum class Compression : std::uint8_t { kNone, kFp16, kBf16 };

/// @throws ConfigError for anything but none, fp16, bf16
Compression parse_compression(std::string_view name);

/// What clipping to clip_norm multiplies a gradient of this norm with, <= 1.
double clip_factor(double grad_norm, double clip_norm);

struct GradientReducerOptions {
  std::int64_t accumulation_steps = 1;
  Compression compression = Compression::kNone;
  double clip_norm = 0.0;       ///< 0: no clipping
  double bucket_cap_mb = 25.0;  ///< of what is reduced at once while backward goes on
};

/// Equal on all ranks, so decisions taken from it are too.
struct ReduceResult {
  double grad_norm = 0.0;    ///< of the averaged gradient, before clipping
  double clip_factor = 1.0;  ///< what clipping multiplies the gradient with, <= 1
  bool finite = true;        ///< false: the gradient has a NaN or infinity, skip this update
};

class BucketReduction;

/// Keeps references to its communicator and arena; they must outlive it.
class GradientReducer {
 public:
  /// Collective.
  /// @param side where buckets of gradients are reduced as soon as they are ready, while backward
  ///     goes on; null: all at once, after it. A rank alone never needs one. Between
  ///     before_backward and after_backward of a last pass the communicator is in use.
  GradientReducer(Communicator& communicator, GradientArena& gradients,
                  GradientReducerOptions options, std::unique_ptr<SideStream> side = nullptr);
  ~GradientReducer();
  GradientReducer(const GradientReducer&) = delete;
  GradientReducer& operator=(const GradientReducer&) = delete;

  /// Names of parameters that backward gives no gradient from now on, so that no bucket waits for
  /// them; the same on all ranks. @throws ShapeError for an unknown name
  void declare_unused(const std::vector<std::string>& names);

  /// To be called before every backward; collective with a side stream.
  /// @param local_weight samples of this rank's batch; may be 0 on a rank that has none left
  /// @param loss_scale what the loss is multiplied with; the same in all passes of an update
  /// @return what the loss is to be multiplied with before backward: loss_scale, and where passes
  ///     are accumulated this pass's weight in units of the first one's, for a gradient that has
  ///     been added to others cannot be weighted any more
  [[nodiscard]] double before_backward(double local_weight, double loss_scale = 1.0);

  /// To be called after every backward, also after one that failed or was left out (then without
  /// before_backward, if it did not come to that, which counts as a weight of 0); collective. On
  /// the last of accumulation_steps the arena becomes sum(w * g) / sum(w) over all passes of all
  /// ranks, where g is the gradient of a pass without its factor (the loss is a mean over the
  /// samples) and w its weight: the gradient of the joined batch. Clipping is left to the caller:
  /// to the optimiser's gradient scale.
  /// @return nothing on inner steps, where no rank communicates
  std::optional<ReduceResult> after_backward();

  /// Both at once, for gradients that are there already, multiplied with the loss scale; without
  /// accumulation.
  std::optional<ReduceResult> reduce(double local_weight = 1.0, double loss_scale = 1.0);

 private:
  [[nodiscard]] bool is_last_pass() const { return num_backwards_ == options_.accumulation_steps; }
  double total_scale();
  double reduce_full(double scale);
  double reduce_compressed(double scale);

  Communicator& communicator_;
  GradientArena& gradients_;
  GradientReducerOptions options_;
  at::Tensor compressed_;  ///< [P] in the half type; undefined without compression
  std::int64_t num_backwards_ = 0;
  bool announced_ = false;    ///< before_backward was called for this pass
  double weight_ = 0.0;       ///< of the passes of this update
  double unit_weight_ = 0.0;  ///< the first of them that is not 0; weights are in units of it
  double loss_scale_ = 1.0;
  std::unique_ptr<BucketReduction> buckets_;  ///< null: all at once
};

}  // namespace traffic::comm
