/// A state of a conflict as a row of numbers, which a replay keeps:
///
///   conflict | shared | a place for each of K decisions: 1 if there was one, own
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "traffic/model/controller.h"

namespace traffic::train::dqn {

struct RowLayout {
  model::ControllerInputs widths;
  std::int64_t places = 1;  ///< K: vehicles.top_k

  [[nodiscard]] std::int64_t width_of_place() const { return 1 + widths.own; }
  [[nodiscard]] std::int64_t first_place() const { return widths.conflict + widths.shared; }
  [[nodiscard]] std::int64_t width() const { return first_place() + places * width_of_place(); }
};

/// Rows taken apart: B states, N decisions in them.
struct Rows {
  torch::Tensor conflict;  ///< [B, conflict]
  torch::Tensor shared;    ///< [B, shared]
  torch::Tensor own;       ///< [N, own]
  torch::Tensor state;     ///< [N] int64, ascending
  torch::Tensor place;     ///< [N] int64: among the K of its state
};
/// @param rows [B, layout.width()]
Rows take_apart(const RowLayout& layout, const torch::Tensor& rows);

/// The same the other way round, one state at a time.
class RowWriter {
 public:
  /// @param row [layout.width()], which becomes the state without decisions
  RowWriter(const RowLayout& layout, std::span<const float> conflict, std::span<const float> shared,
            std::span<float> row);
  /// @return its place
  std::int64_t add_decision(std::span<const float> own);

 private:
  const RowLayout& layout_;
  std::span<float> row_;
  std::int64_t decisions_ = 0;
};

}  // namespace traffic::train::dqn
