// GradientReducer: sums the gradients of all ranks after the backward pass, or during it if there
// is a side stream.
#include "traffic/comm/gradient_reducer.h"

#include <ATen/ATen.h>

#include <cmath>
#include <utility>

#include "bucket_reduction.h"
#include "squared_norm.h"
#include "traffic/core/error.h"

namespace traffic::comm {

Compression parse_compression(std::string_view name) {
  if (name == "none") return Compression::kNone;
  if (name == "fp16") return Compression::kFp16;
  if (name == "bf16") return Compression::kBf16;
  throw ConfigError("comm.compression = {}: expected none, fp16 or bf16", name);
}

double clip_factor(double grad_norm, double clip_norm) {
  constexpr double kEps = 1e-6;  // same value as in torch.nn.utils.clip_grad_norm_
  return grad_norm > clip_norm ? clip_norm / (grad_norm + kEps) : 1.0;
}

GradientReducer::GradientReducer(Communicator& communicator, GradientArena& gradients,
                                 GradientReducerOptions options, std::unique_ptr<SideStream> side)
    : communicator_(communicator), gradients_(gradients), options_(options) {
  TRAFFIC_CHECK(options_.accumulation_steps >= 1, "accumulation_steps = {}, expected at least 1",
                options_.accumulation_steps);
  TRAFFIC_CHECK(options_.clip_norm >= 0.0, "clip_norm = {}, expected at least 0",
                options_.clip_norm);
  if (communicator_.size() == 1) return;
  if (options_.compression != Compression::kNone) {
    const at::ScalarType type =
        options_.compression == Compression::kFp16 ? at::kHalf : at::kBFloat16;
    compressed_ = communicator_.shared_zeros(gradients_.flat().numel(), type);
  }
  if (side == nullptr) return;
  buckets_ = std::make_unique<BucketReduction>(communicator_, gradients_, compressed_,
                                               std::move(side), options_.bucket_cap_mb);
}

GradientReducer::~GradientReducer() = default;

void GradientReducer::declare_unused(const std::vector<std::string>& names) {
  if (buckets_) buckets_->declare_unused(names);
}

double GradientReducer::before_backward(double local_weight, double loss_scale) {
  TRAFFIC_CHECK(local_weight >= 0.0 && std::isfinite(local_weight),
                "the weight of a batch is {}, expected a finite number, at least 0", local_weight);
  TRAFFIC_CHECK(!announced_, "before_backward() was called twice without after_backward()");
  weight_ += local_weight;
  if (unit_weight_ == 0.0) unit_weight_ = local_weight;
  loss_scale_ = loss_scale;
  ++num_backwards_;
  announced_ = true;
  if (buckets_ && is_last_pass()) buckets_->start(total_scale());
  return unit_weight_ == 0.0 ? 0.0 : local_weight / unit_weight_ * loss_scale;
}

/// Factor by which this rank multiplies its accumulated gradients before the sum over ranks.
/// Collective.
double GradientReducer::total_scale() {
  const double total = communicator_.all_reduce_scalar(weight_);
  if (total == 0.0) return 0.0;
  return unit_weight_ / total / loss_scale_;
}

std::optional<ReduceResult> GradientReducer::after_backward() {
  if (!announced_) static_cast<void>(before_backward(0.0, loss_scale_));
  announced_ = false;
  if (!is_last_pass()) return std::nullopt;
  gradients_.check_views();
  double squares = 0.0;
  if (buckets_) {
    buckets_->finish();
    squares = squared_norm(gradients_.flat());
  } else {
    const double scale = total_scale();
    squares = compressed_.defined() ? reduce_compressed(scale) : reduce_full(scale);
  }
  num_backwards_ = 0;
  weight_ = 0.0;
  unit_weight_ = 0.0;
  ReduceResult result;
  result.finite = std::isfinite(squares);
  result.grad_norm = std::sqrt(squares);
  if (options_.clip_norm > 0.0) {
    result.clip_factor = clip_factor(result.grad_norm, options_.clip_norm);
  }
  return result;
}

std::optional<ReduceResult> GradientReducer::reduce(double local_weight, double loss_scale) {
  TRAFFIC_CHECK(options_.accumulation_steps == 1,
                "reduce() was called with accumulation_steps = {}, expected 1",
                options_.accumulation_steps);
  static_cast<void>(before_backward(local_weight, loss_scale));
  return after_backward();
}

double GradientReducer::reduce_full(double scale) {
  return communicator_.all_reduce_scaled(gradients_.flat(), scale);
}

double GradientReducer::reduce_compressed(double scale) {
  const at::Tensor& flat = gradients_.flat();
  // Scales each rank's gradient before the cast to the 16-bit type. The sum of unscaled gradients
  // may exceed the range of that type; the sum of scaled gradients is their average and does not.
  flat.mul_(scale);
  compressed_.copy_(flat);
  communicator_.all_reduce(compressed_);
  flat.copy_(compressed_);
  return squared_norm(flat);
}

}  // namespace traffic::comm
