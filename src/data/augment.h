/// Changes the inputs of samples at random. A sample gets the same changes whenever it is drawn in
/// the same epoch. Targets stay as they are; a time shift moves the whole window.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/core/random.h"

namespace traffic::data {

class Augmenter {
 public:
  /// Columns of the features that are changed, and the constants of their normalisation.
  struct Targets {
    std::size_t position = 0;
    std::size_t speed = 0;
    float position_scale = 1;
    float speed_offset = 0;
    float speed_scale = 1;
  };

  /// Makes the augmenter of one drawn sample. Seed, epoch and sample decide its random numbers.
  Augmenter(const config::Augmentation& options, const Targets& targets, std::uint64_t seed,
            std::int64_t epoch, std::int64_t sample);

  /// Frames to move the anchor by, within +-time_shift_frames.
  [[nodiscard]] std::int64_t time_shift();
  /// Draws what stays the same in all frames of the window: jitter and masked features.
  void begin(std::size_t vehicles, std::size_t features);
  /// Changes a present vehicle's normalised features in one frame.
  void change_features(std::size_t vehicle, std::span<float> features);
  [[nodiscard]] bool drop_edge() { return rng_.uniform() < options_.edge_dropout; }

 private:
  const config::Augmentation& options_;
  const Targets& targets_;
  Rng rng_;
  std::size_t features_ = 0;
  std::vector<float> jitter_;        ///< [vehicles] normalised
  std::vector<unsigned char> mask_;  ///< [vehicles, features]
};

}  // namespace traffic::data
