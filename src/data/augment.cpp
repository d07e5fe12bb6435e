// Changes the inputs of samples at random (augment.h).
#include "augment.h"

#include <algorithm>

#include "traffic/core/random_streams.h"

namespace traffic::data {

Augmenter::Augmenter(const config::Augmentation& options, const Targets& targets,
                     std::uint64_t seed, std::int64_t epoch, std::int64_t sample)
    : options_(options),
      targets_(targets),
      rng_(derive_seed(seed, {kAugmentationStream, static_cast<std::uint64_t>(epoch),
                              static_cast<std::uint64_t>(sample)})) {}

std::int64_t Augmenter::time_shift() {
  const std::int64_t most = options_.time_shift_frames;
  return static_cast<std::int64_t>(rng_.uniform_int(static_cast<std::uint64_t>(2 * most + 1))) -
         most;
}

void Augmenter::begin(std::size_t vehicles, std::size_t features) {
  features_ = features;
  jitter_.resize(vehicles);
  mask_.resize(vehicles * features);
  for (auto& jitter : jitter_) {
    const double metres = rng_.uniform(-options_.position_jitter_m, options_.position_jitter_m);
    jitter = static_cast<float>(metres) / targets_.position_scale;
  }
  for (auto& masked : mask_) masked = rng_.uniform() < options_.feature_mask ? 1 : 0;
}

void Augmenter::change_features(std::size_t vehicle, std::span<float> features) {
  features[targets_.position] += jitter_[vehicle];
  const float noise =
      static_cast<float>(rng_.normal() * options_.speed_noise_mps) / targets_.speed_scale;
  const float standing = -targets_.speed_offset / targets_.speed_scale;
  features[targets_.speed] = std::max(features[targets_.speed] + noise, standing);
  for (std::size_t k = 0; k < features_; ++k) {
    if (mask_[vehicle * features_ + k] != 0) features[k] = 0;
  }
}

}  // namespace traffic::data
