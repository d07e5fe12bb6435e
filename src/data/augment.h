/// Augmenter changes the inputs of samples at random (data augmentation). BatchBuilder uses one for
/// each sample that it builds. A sample gets the same changes whenever it is built in the same
/// epoch. The augmenter does not change the values that the network shall predict, except that a
/// time shift moves them together with the inputs.
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
    std::size_t position = 0;  ///< column of the position
    std::size_t speed = 0;     ///< column of the speed
    float position_scale = 1;
    float speed_offset = 0;
    float speed_scale = 1;
  };

  /// Makes the augmenter of one sample. Seed, epoch and sample decide its random numbers.
  Augmenter(const config::Augmentation& options, const Targets& targets, std::uint64_t seed,
            std::int64_t epoch, std::int64_t sample);

  /// Draws by how many frames to move the sample's anchor (its last observed frame). The number is
  /// between -time_shift_frames and +time_shift_frames.
  [[nodiscard]] std::int64_t time_shift();
  /// Draws, for each vehicle, the random change of its position and the features that are set to
  /// zero. Both are the same in all frames of the sample.
  void begin(std::size_t vehicles, std::size_t features);
  /// Changes the normalised features of a vehicle in one frame.
  void change_features(std::size_t vehicle, std::span<float> features);
  /// Draws whether to leave out an edge.
  [[nodiscard]] bool drop_edge() { return rng_.uniform() < options_.edge_dropout; }

 private:
  const config::Augmentation& options_;
  const Targets& targets_;
  Rng rng_;
  std::size_t features_ = 0;
  std::vector<float> jitter_;        ///< [vehicles] added to the normalised position
  std::vector<unsigned char> mask_;  ///< [vehicles, features] 1 if the feature is set to zero
};

}  // namespace traffic::data
