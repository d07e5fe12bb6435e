/// Averages the gradients of all ranks.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <string_view>

#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"

namespace traffic::comm {

enum class Compression : std::uint8_t { kNone, kFp16, kBf16 };

/// @throws ConfigError for anything but none, fp16, bf16
Compression parse_compression(std::string_view name);

struct GradientReducerOptions {
  std::int64_t accumulation_steps = 1;
  Compression compression = Compression::kNone;
  double clip_norm = 0.0;  ///< 0: no clipping
};

/// Equal on all ranks, so decisions taken from it are too.
struct ReduceResult {
  double grad_norm = 0.0;    ///< of the averaged gradient, before clipping
  double clip_factor = 1.0;  ///< what clipping multiplies the gradient with, <= 1
  bool finite = true;        ///< false: the gradient has a NaN or infinity, skip this update
};

/// Keeps references to its communicator and arena; they must outlive it.
class GradientReducer {
 public:
  GradientReducer(Communicator& communicator, GradientArena& gradients,
                  GradientReducerOptions options);

  /// To be called after every backward; collective. On the last of accumulation_steps the arena
  /// becomes sum_r(w_r * g_r) / sum_r(w_r), where g_r is rank r's gradient averaged over its
  /// backward passes (the loss is a mean over the samples) and w_r the sum of the weights that it
  /// gave. Clipping is left to the caller: to the optimiser's gradient scale, or clip().
  /// @param local_weight samples of this rank's batch; may be 0 on a rank that has none left
  /// @return nothing on inner steps, where no rank communicates
  std::optional<ReduceResult> reduce(double local_weight = 1.0);

  /// Applies the factor to the arena; a pass over memory that an optimiser with a gradient scale
  /// does not need.
  void clip(const ReduceResult& result);

 private:
  double reduce_full(double scale);
  double reduce_compressed(double scale);

  Communicator& communicator_;
  GradientArena& gradients_;
  GradientReducerOptions options_;
  at::Tensor compressed_;  ///< [P] in the half type; undefined without compression
  std::int64_t num_backwards_ = 0;
  double weight_ = 0.0;
};

}  // namespace traffic::comm
