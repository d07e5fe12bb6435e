// The network of a driving policy: the encoder of image and status, and the three heads that make
// plans.
#include "traffic/model/driving_network.h"

#include <ATen/Parallel.h>
#include <torch/nn/functional.h>
#include <torch/utils.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/vectorised.h"

namespace traffic::model {
namespace {

constexpr std::int64_t kPatch = 4;  ///< rows and columns of a patch, in cells of the image
/// Widths of the encodings of image and status. The network concatenates the two encodings.
constexpr std::int64_t kImageWidth = 192;
constexpr std::int64_t kStatusWidth = 64;
constexpr double kFrame_s = 0.5;  ///< time between two positions of a plan
/// Noise of truncated diffusion: the first 50 of 1000 steps of a scaled linear schedule with betas
/// from 1e-4 to 0.02 (Liao et al. 2025, arXiv:2411.15139).
constexpr double kTruncated = 50.0;

/// Share of the signal's variance that is left at a noise level. Level 0 has no noise, level 1 has
/// the noise of step kTruncated.
torch::Tensor signal_share(const torch::Tensor& level) {
  const double first = std::sqrt(1e-4), last = std::sqrt(0.02);
  const torch::Tensor t = level * kTruncated;
  // The sum of the betas approximates the negative logarithm of the product of 1 - beta.
  const double slope = (last - first) / 1000.0;
  const torch::Tensor sum =
      first * first * t + first * slope * t * t + slope * slope / 3.0 * t * t * t;
  return torch::exp(-sum);
}

/// Divides an image [C, H, W] into patches of 4 x 4 cells and makes one row of the values of each
/// patch, channel by channel: [H / 4, W / 4, 16 C]. Bytes are scaled to 0 .. 1.
TRAFFIC_VECTORISED void copy_patches(const std::uint8_t* image, float* out, std::int64_t channels,
                                     std::int64_t rows, std::int64_t columns) {
  const std::int64_t across = columns / kPatch;
  const std::int64_t size = channels * kPatch * kPatch;
  for (std::int64_t c = 0; c < channels; ++c) {
    for (std::int64_t r = 0; r < rows; ++r) {
      const std::uint8_t* line = image + (c * rows + r) * columns;
      float* to = out + (r / kPatch) * across * size + (c * kPatch + r % kPatch) * kPatch;
      for (std::int64_t p = 0; p < across; ++p) {
        for (std::int64_t i = 0; i < kPatch; ++i) {
          to[p * size + i] = static_cast<float>(line[p * kPatch + i]) * (1.0F / 255.0F);
        }
      }
    }
  }
}

/// Mean over the last dimension of a loss that is quadratic up to kQuadratic and linear beyond.
/// Differences are in units of their mean size, which is some metres. With a larger kQuadratic the
/// loss would hardly depend on the few decimetres that decide whether a vehicle stops in front of a
/// line or behind it.
torch::Tensor smooth_l1(const torch::Tensor& difference) {
  constexpr double kQuadratic = 0.1;
  const torch::Tensor size = difference.abs();
  return torch::where(size < kQuadratic, 0.5 / kQuadratic * size * size, size - 0.5 * kQuadratic)
      .mean(-1);
}

torch::Tensor weighted_mean(const torch::Tensor& values, const torch::Tensor& weight) {
  return (values * weight).sum() / weight.sum().clamp_min(1e-12);
}

}  // namespace

DrivingNetworkImpl::DrivingNetworkImpl(const DrivingShape& shape) : shape_(shape) {
  TRAFFIC_CHECK(shape.rows % 8 == 0 && shape.columns % 8 == 0,
                "the rows and columns of an image are {} and {}, expected multiples of 8",
                shape.rows, shape.columns);
  const std::int64_t width = shape.width;
  const std::int64_t hidden = shape.hidden_dim;
  scale_ = register_buffer("scale", torch::ones({kPlanSize}));
  anchors_ = register_buffer("anchors", torch::zeros({shape.modes, kPlanSize}));
  if (shape.sees_image) {
    patch_ = register_module("patch",
                             torch::nn::Linear(shape.channels * kPatch * kPatch, 2 * width / 3));
    merge_ = register_module(
        "merge", torch::nn::Conv2d(torch::nn::Conv2dOptions(2 * width / 3, width, 2).stride(2)));
    convolution_ = register_module(
        "convolution",
        torch::nn::Conv2d(torch::nn::Conv2dOptions(width, width, 3).stride(2).padding(1)));
    const std::int64_t cells = ((shape.rows / 8 + 1) / 2) * ((shape.columns / 8 + 1) / 2);
    image_ = register_module("image", torch::nn::Linear(width * cells, kImageWidth));
  }
  status_ = register_module(
      "status", Mlp(MlpShape{.inputs = shape.status, .hidden = {128}, .outputs = kStatusWidth}));
  join_ = register_module(
      "join", torch::nn::Linear((shape.sees_image ? kImageWidth : 0) + kStatusWidth, hidden));
  if (shape.head == "diffusion") {
    context_ = register_module("context", torch::nn::Linear(hidden, hidden));
    anchor_ = register_module("anchor", torch::nn::Linear(kPlanSize, hidden));
    level_ = register_module("level", torch::nn::Linear(1, hidden));
    head_ = register_module(
        "head", Mlp(MlpShape{.inputs = hidden, .hidden = {hidden / 2}, .outputs = kPlanSize + 1}));
    return;
  }
  const std::int64_t outputs = shape.head == "vocabulary" ? shape.modes : kPlanSize;
  head_ = register_module("head",
                          Mlp(MlpShape{.inputs = hidden, .hidden = {hidden}, .outputs = outputs}));
}

void DrivingNetworkImpl::set_statistics(const PlanStatistics& statistics) {
  const torch::NoGradGuard no_grad;
  scale_.copy_(statistics.scale);
  if (statistics.anchors.defined() && statistics.anchors.numel() > 0) {
    anchors_.copy_(statistics.anchors);
  }
}

torch::Tensor DrivingNetworkImpl::patches(const torch::Tensor& image) const {
  const std::int64_t batch = image.size(0);
  const std::int64_t down = shape_.rows / kPatch, across = shape_.columns / kPatch;
  const std::int64_t size = shape_.channels * kPatch * kPatch;
  if (!image.is_cpu()) {
    return image.view({batch, shape_.channels, down, kPatch, across, kPatch})
        .permute({0, 2, 4, 1, 3, 5})
        .reshape({batch, down, across, size})
        .to(torch::kFloat)
        .mul_(1.0 / 255.0);
  }
  torch::Tensor out = torch::empty({batch, down, across, size});
  const torch::Tensor whole = image.contiguous();
  for (std::int64_t b = 0; b < batch; ++b) {
    copy_patches(whole.const_data_ptr<std::uint8_t>() + b * whole.stride(0),
                 out.mutable_data_ptr<float>() + b * out.stride(0), shape_.channels, shape_.rows,
                 shape_.columns);
  }
  return out;
}

torch::Tensor DrivingNetworkImpl::encode_image(const torch::Tensor& image) {
  TRAFFIC_CHECK(image.dim() == 4 && image.size(1) == shape_.channels &&
                    image.size(2) == shape_.rows && image.size(3) == shape_.columns,
                "an image must be [B, {}, {}, {}]", shape_.channels, shape_.rows, shape_.columns);
  const torch::ScalarType type = compute_type_;
  const auto cast = [type](const torch::Tensor& x) {
    return x.scalar_type() == type ? x : x.to(type);
  };
  torch::Tensor x =
      torch::linear(cast(patches(image)), cast(patch_->weight), cast(patch_->bias)).relu_();
  // x is [B, H / 4, W / 4, channels], that is, an image in channels-last order.
  x = x.permute({0, 3, 1, 2});
  x = torch::conv2d(x, cast(merge_->weight), cast(merge_->bias), 2).relu_();
  x = torch::conv2d(x, cast(convolution_->weight), cast(convolution_->bias), 2, 1).relu_();
  return torch::linear(x.flatten(1), cast(image_->weight), cast(image_->bias))
      .relu_()
      .to(torch::kFloat);
}

torch::Tensor DrivingNetworkImpl::encode(const torch::Tensor& image, const torch::Tensor& status) {
  torch::Tensor seen = status;
  if (status.size(1) > shape_.status) seen = status.narrow(1, 0, shape_.status).contiguous();
  torch::Tensor numbers = torch::relu(status_->forward(seen));
  if (shape_.sees_image) numbers = torch::cat({encode_image(image), numbers}, 1);
  return join_->forward(numbers).relu_();
}

torch::Tensor DrivingNetworkImpl::residual_of(const torch::Tensor& plan,
                                              const torch::Tensor& speed_mps) const {
  return (plan - plan_of(torch::zeros_like(plan), speed_mps)) / scale_;
}

torch::Tensor DrivingNetworkImpl::plan_of(const torch::Tensor& residual,
                                          const torch::Tensor& speed_mps) const {
  torch::Tensor straight = torch::zeros({kPlanSize / 2, 2});
  for (std::int64_t i = 0; i < kPlanSize / 2; ++i) {
    straight[i][0] = kFrame_s * static_cast<double>(i + 1);
  }
  straight = straight.flatten().to(speed_mps.device());
  torch::Tensor base = speed_mps.unsqueeze(-1) * straight;
  if (residual.dim() == 3) base = base.unsqueeze(1);
  return base + residual * scale_;
}

DrivingNetworkImpl::Denoised DrivingNetworkImpl::denoise(const torch::Tensor& encoding,
                                                         const torch::Tensor& noisy,
                                                         const torch::Tensor& noise_level) {
  const std::int64_t batch = noisy.size(0), modes = noisy.size(1);
  const torch::Tensor shared =
      context_->forward(encoding) + level_->forward(noise_level.unsqueeze(-1));
  const torch::Tensor x = (anchor_->forward(noisy) + shared.unsqueeze(1)).relu_();
  const torch::Tensor out =
      head_->forward(x.flatten(0, 1).contiguous()).view({batch, modes, kPlanSize + 1});
  return {.residuals = noisy + out.slice(2, 0, kPlanSize), .logits = out.select(2, kPlanSize)};
}

torch::Tensor DrivingNetworkImpl::loss(const torch::Tensor& encoding,
                                       const torch::Tensor& speed_mps, const torch::Tensor& plan,
                                       const torch::Tensor& weight, const torch::Tensor& noise,
                                       const torch::Tensor& noise_level) {
  const torch::Tensor target = residual_of(plan, speed_mps);
  if (shape_.head == "regression") {
    return weighted_mean(smooth_l1(head_->forward(encoding) - target), weight);
  }
  // Squared distances of the anchors to the target: [B, modes].
  const torch::Tensor distance = (anchors_.unsqueeze(0) - target.unsqueeze(1)).square().sum(-1);
  if (shape_.head == "vocabulary") {
    // A soft target: plans near the recorded one count as partly right.
    const torch::Tensor wanted = torch::softmax(-distance / 0.5, 1);
    const torch::Tensor found = torch::log_softmax(head_->forward(encoding), 1);
    return weighted_mean(-(wanted * found).sum(1), weight);
  }
  constexpr double kScoreWeight = 0.3;
  const torch::Tensor nearest = distance.argmin(1);
  const torch::Tensor share = signal_share(noise_level).view({-1, 1, 1});
  const torch::Tensor noisy = share.sqrt() * anchors_.unsqueeze(0) + (1.0 - share).sqrt() * noise;
  const Denoised denoised = denoise(encoding, noisy, noise_level);
  const torch::Tensor chosen =
      denoised.residuals.gather(1, nearest.view({-1, 1, 1}).expand({-1, 1, kPlanSize})).squeeze(1);
  const torch::Tensor scored =
      -torch::log_softmax(denoised.logits, 1).gather(1, nearest.unsqueeze(1)).squeeze(1);
  return weighted_mean(smooth_l1(chosen - target) + kScoreWeight * scored, weight);
}

DrivingPlans DrivingNetworkImpl::plans(const torch::Tensor& encoding,
                                       const torch::Tensor& speed_mps, std::int64_t count,
                                       std::int64_t steps) {
  if (shape_.head == "regression") {
    return {.plans = plan_of(head_->forward(encoding), speed_mps).unsqueeze(1),
            .probabilities = torch::ones({encoding.size(0), 1}, encoding.options())};
  }
  torch::Tensor residuals = anchors_.unsqueeze(0).expand({encoding.size(0), -1, -1});
  torch::Tensor logits;
  if (shape_.head == "vocabulary") {
    logits = head_->forward(encoding);
  } else {
    TRAFFIC_CHECK(steps == 1 || steps == 2, "the number of denoising steps is {}, expected 1 or 2",
                  steps);
    // Without added noise the result depends on the inputs alone.
    for (std::int64_t step = 0; step < steps; ++step) {
      const double level = 0.2 * static_cast<double>(steps - step) / static_cast<double>(steps);
      const torch::Tensor levels = torch::full({encoding.size(0)}, level, encoding.options());
      const torch::Tensor share = signal_share(levels).view({-1, 1, 1});
      const Denoised denoised = denoise(encoding, share.sqrt() * residuals, levels);
      residuals = denoised.residuals;
      logits = denoised.logits;
    }
  }
  const auto [probability, order] =
      torch::softmax(logits, 1).topk(std::min(count, logits.size(1)), 1);
  const torch::Tensor chosen = residuals.gather(1, order.unsqueeze(-1).expand({-1, -1, kPlanSize}));
  return {.plans = plan_of(chosen, speed_mps), .probabilities = probability};
}

torch::Tensor group_centres(const torch::Tensor& rows, std::int64_t k, std::uint64_t seed) {
  TRAFFIC_CHECK(rows.dim() == 2 && rows.size(0) >= k,
                "there are {} rows for {} groups, expected at least one row for each group",
                rows.size(0), k);
  Rng rng(seed);
  // k-means++: each further centre is a row, drawn with a probability that is proportional to its
  // squared distance to the nearest centre so far.
  torch::Tensor centres = torch::empty({k, rows.size(1)});
  torch::Tensor nearest = torch::full({rows.size(0)}, INFINITY);
  auto pick = static_cast<std::int64_t>(rng.uniform_int(static_cast<std::uint64_t>(rows.size(0))));
  for (std::int64_t i = 0; i < k; ++i) {
    centres[i].copy_(rows[pick]);
    nearest = torch::minimum(nearest, (rows - rows[pick]).square().sum(1));
    const torch::Tensor sums = nearest.to(torch::kDouble).cumsum(0);
    const double at = rng.uniform() * sums[-1].item<double>();
    pick = std::min(rows.size(0) - 1, torch::searchsorted(sums, at).item<std::int64_t>());
  }
  constexpr int kRounds = 15;
  for (int round = 0; round < kRounds; ++round) {
    const torch::Tensor group = torch::cdist(rows, centres).argmin(1);
    const torch::Tensor sums = torch::zeros_like(centres).index_add_(0, group, rows);
    const torch::Tensor counts =
        torch::zeros({k}).index_add_(0, group, torch::ones({rows.size(0)}));
    centres =
        torch::where((counts > 0).unsqueeze(1), sums / counts.clamp_min(1).unsqueeze(1), centres);
  }
  return centres;
}

}  // namespace traffic::model
