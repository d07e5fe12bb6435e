#include "traffic/comm/gradient_reducer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "squared_norm.h"
#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

/// As torch.nn.utils.clip_grad_norm_ does, against division by zero.
constexpr double kNormEps = 1e-6;

}  // namespace

Compression parse_compression(std::string_view name) {
  if (name == "none") return Compression::kNone;
  if (name == "fp16") return Compression::kFp16;
  if (name == "bf16") return Compression::kBf16;
  throw ConfigError("comm.compression = {}: expected none, fp16 or bf16", name);
}

GradientReducer::GradientReducer(Communicator& communicator, GradientArena& gradients,
                                 GradientReducerOptions options)
    : communicator_(communicator), gradients_(gradients), options_(options) {
  TRAFFIC_CHECK(options_.accumulation_steps >= 1, "accumulation_steps = {}",
                options_.accumulation_steps);
  TRAFFIC_CHECK(options_.clip_norm >= 0.0, "clip_norm = {}", options_.clip_norm);
  if (options_.compression == Compression::kNone || communicator_.size() == 1) return;
  const at::ScalarType type =
      options_.compression == Compression::kFp16 ? at::kHalf : at::kBFloat16;
  compressed_ = communicator_.shared_zeros(gradients_.flat().numel(), type);
}

std::optional<ReduceResult> GradientReducer::reduce(double local_weight) {
  TRAFFIC_CHECK(local_weight >= 0.0 && std::isfinite(local_weight), "weight {}", local_weight);
  weight_ += local_weight;
  if (++num_backwards_ < options_.accumulation_steps) return std::nullopt;
  gradients_.check_views();
  const double total = communicator_.all_reduce_scalar(weight_);
  TRAFFIC_CHECK(total > 0.0, "no rank had a sample");
  const double scale = weight_ / total / static_cast<double>(num_backwards_);
  num_backwards_ = 0;
  weight_ = 0.0;

  const double squares = compressed_.defined() ? reduce_compressed(scale) : reduce_full(scale);
  ReduceResult result;
  result.finite = std::isfinite(squares);
  result.grad_norm = std::sqrt(squares);
  if (options_.clip_norm > 0.0 && result.grad_norm > options_.clip_norm) {
    result.clip_factor = options_.clip_norm / (result.grad_norm + kNormEps);
  }
  return result;
}

double GradientReducer::reduce_full(double scale) {
  return communicator_.all_reduce_scaled(gradients_.flat(), scale);
}

double GradientReducer::reduce_compressed(double scale) {
  const at::Tensor& flat = gradients_.flat();
  // Scaled before the cast: the average is in the range of the gradients, their sum may not be.
  flat.mul_(scale);
  compressed_.copy_(flat);
  communicator_.all_reduce(compressed_);
  flat.copy_(compressed_);
  return squared_norm(flat);
}

void GradientReducer::clip(const ReduceResult& result) {
  if (result.clip_factor < 1.0) gradients_.scale(result.clip_factor);
}

}  // namespace traffic::comm
