/// Packs rows of many states, such as their candidates, into one tensor without padding. The rows
/// of a state follow those of the state before; an index stores where each state begins.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace traffic::rl {

/// B segments of M rows in all: the rows ptr[b] .. ptr[b + 1] belong to segment b. A segment is a
/// state, or a conflict in a state if candidates are selected separately for each conflict.
/// Immutable; copies share storage.
class Segments {
 public:
  /// @param ptr [B + 1] int64 on the CPU, starts at 0, never decreases
  /// @param device where index(), starts() and sizes() live
  /// @throws ShapeError if ptr is invalid
  explicit Segments(torch::Tensor ptr, torch::Device device = torch::kCPU);

  /// The same segments on another device; returns a copy of this object if it is there already.
  [[nodiscard]] Segments on(torch::Device device) const {
    return device == this->device() ? *this : Segments(ptr_, device);
  }
  [[nodiscard]] std::int64_t count() const { return device_ptr_.size(0) - 1; }  ///< B
  [[nodiscard]] std::int64_t rows() const { return rows_; }                     ///< M
  [[nodiscard]] torch::Device device() const { return index_.device(); }
  [[nodiscard]] const torch::Tensor& ptr() const { return ptr_; }  ///< [B + 1] on the CPU
  /// [M] the segment of each row
  [[nodiscard]] const torch::Tensor& index() const { return index_; }
  [[nodiscard]] torch::Tensor starts() const;  ///< [B] first row of each segment
  [[nodiscard]] torch::Tensor sizes() const;   ///< [B] number of rows of each segment

  /// Sum of x [M] over each segment, [B]; 0 for an empty one. Differentiable. The order of
  /// summation is fixed.
  [[nodiscard]] torch::Tensor sum(const torch::Tensor& x) const;
  /// Maximum of x [M] over each segment, but at least `least`, [B]. Without gradient.
  [[nodiscard]] torch::Tensor max(const torch::Tensor& x, double least) const;
  /// Row of the maximum of x [M] in each segment, the first if several are equal, [B] int64; M for
  /// an empty segment.
  [[nodiscard]] torch::Tensor argmax(const torch::Tensor& x) const;
  /// Logarithm of the softmax of x [M] within each segment, [M]. Differentiable.
  [[nodiscard]] torch::Tensor log_softmax(const torch::Tensor& x) const;
  /// y [B] repeated for each row of its segment, [M].
  [[nodiscard]] torch::Tensor expand(const torch::Tensor& y) const;

 private:
  torch::Tensor ptr_;
  torch::Tensor device_ptr_;
  torch::Tensor index_;
  std::int64_t rows_ = 0;
};

/// Some segments of a packed tensor, packed again.
struct SegmentSubset {
  Segments segments;   ///< the chosen segments, in the order of `chosen`
  torch::Tensor rows;  ///< [M'] int64 on the device of `segments`: rows of the whole tensor that
                       ///< belong to them
};

/// Selects segments, e.g. for a minibatch. If x is packed by the given segments, then
/// x.index_select(0, rows) is packed by the segments of the result.
/// @param chosen [B'] int64 on the CPU: indices of segments
/// @throws ShapeError if an index is out of range
SegmentSubset select_segments(const Segments& segments, const torch::Tensor& chosen);

}  // namespace traffic::rl
