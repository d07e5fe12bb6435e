/// Scales features from physical units to the inputs of models. Recorded and simulated traffic use
/// the same code.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "traffic/scene/frame.h"

namespace traffic::scene {

/// Computes (value - offset) / scale for every column of a table of features.
class Normaliser {
 public:
  explicit Normaliser(std::span<const FeatureSpec> features);

  [[nodiscard]] std::size_t columns() const { return offset_.size(); }
  [[nodiscard]] float offset(std::size_t column) const { return offset_[column]; }
  [[nodiscard]] float scale(std::size_t column) const { return scale_[column]; }

  /// @param values [rows, columns()] in physical units
  /// @param to start of the output, which has room for as many values
  /// @return end of the written values
  float* write(std::span<const float> values, float* to) const {
    const std::size_t n = columns();
    const float* offset = offset_.data();
    const float* scale = scale_.data();
    for (std::size_t first = 0; first < values.size(); first += n) {
      const float* from = values.data() + first;
      for (std::size_t c = 0; c < n; ++c) to[c] = (from[c] - offset[c]) / scale[c];
      to += n;
    }
    return to;
  }

 private:
  std::vector<float> offset_;
  std::vector<float> scale_;
};

/// Normalisers of the tables in frame.h. A data set that was made with other tables is refused when
/// it is read.
const Normaliser& node_normaliser();
const Normaliser& edge_normaliser();
const Normaliser& global_normaliser();

}  // namespace traffic::scene
