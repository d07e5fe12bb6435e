/// Writes the state of a conflict (where streams of traffic meet) as a row of numbers for the
/// replay of Q-learning. A row consists of the inputs of the conflict, the inputs that all
/// conflicts share, and K places:
///
///   conflict | shared | place 1 | ... | place K
///
/// A place holds one decision about a candidate, a vehicle that may get a command. It consists of
/// the number 1 and the candidate's own inputs. A place without a decision contains only zeros.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "traffic/model/controller.h"

namespace traffic::train::dqn {

/// The sizes of a row.
struct RowLayout {
  model::ControllerInputs widths;
  std::int64_t places = 1;  ///< K, vehicles.top_k

  [[nodiscard]] std::int64_t width_of_place() const { return 1 + widths.own; }
  [[nodiscard]] std::int64_t first_place() const { return widths.conflict + widths.shared; }
  [[nodiscard]] std::int64_t width() const { return first_place() + places * width_of_place(); }
};

/// The contents of B rows with N decisions in all.
struct Rows {
  torch::Tensor conflict;  ///< [B, conflict]
  torch::Tensor shared;    ///< [B, shared]
  torch::Tensor own;       ///< [N, own]
  torch::Tensor state;     ///< [N] int64, ascending: row of each decision
  torch::Tensor place;     ///< [N] int64: index of the place of each decision, 0 .. K - 1
};
/// Splits rows into their parts.
/// @param rows [B, layout.width()]
/// @throws Error if the rows have another width
Rows take_apart(const RowLayout& layout, const torch::Tensor& rows);

/// Writes one row.
class RowWriter {
 public:
  /// Writes a state without decisions.
  /// @param layout must outlive this object
  /// @param conflict [layout.widths.conflict]
  /// @param shared [layout.widths.shared]
  /// @param row [layout.width()] destination, must outlive this object
  RowWriter(const RowLayout& layout, std::span<const float> conflict, std::span<const float> shared,
            std::span<float> row);
  /// Writes a decision to the next free place.
  /// @param own [layout.widths.own]
  /// @return index of the place
  /// @throws Error if no place is free
  std::int64_t add_decision(std::span<const float> own);

 private:
  const RowLayout& layout_;
  std::span<float> row_;
  std::int64_t decisions_ = 0;
};

}  // namespace traffic::train::dqn
