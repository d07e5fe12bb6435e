/// Segments: describes how rows of many states, such as their candidates, are packed into one
/// tensor without padding. The tensor contains all rows of the first state, then all rows of the
/// second state, and so on. Segments stores where each state begins, and sums or searches within
/// each state.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace traffic::rl {

/// B segments of M rows in all. Segment b consists of the rows ptr[b] to ptr[b + 1] - 1. A segment
/// is a state, or a conflict in a state if candidates are selected separately for each conflict.
/// Immutable; copies share storage.
class Segments {
 public:
  /// @param ptr [B + 1] int64 on the CPU, starts at 0, never decreases
  /// @param device where index(), starts() and sizes() live
  /// @throws ShapeError if ptr is invalid
  explicit Segments(torch::Tensor ptr, torch::Device device = torch::kCPU);

  /// The same segments with their tensors on another device.
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

  /// Sum of x [M] over each segment, [B]; 0 for an empty segment. Differentiable. The order of
  /// summation is fixed.
  [[nodiscard]] torch::Tensor sum(const torch::Tensor& x) const;
  /// Maximum of x [M] over each segment, [B], but at least `least`. Without gradient.
  [[nodiscard]] torch::Tensor max(const torch::Tensor& x, double least) const;
  /// Row of the maximum of x [M] in each segment, [B] int64; M for an empty segment. If several
  /// rows are equal, it is the first of them.
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

/// Some segments of a packed tensor, and the rows of the tensor that belong to them.
struct SegmentSubset {
  Segments segments;   ///< the chosen segments, in the order of `chosen`
  torch::Tensor rows;  ///< [M'] int64 on the device of `segments`: rows of the packed tensor that
                       ///< belong to the chosen segments
};

/// Selects segments, e.g. for a minibatch. If x is packed by the given segments, then
/// x.index_select(0, rows) is packed by the segments of the result.
/// @param chosen [B'] int64 on the CPU: indices of segments
/// @throws ShapeError if an index is out of range
SegmentSubset select_segments(const Segments& segments, const torch::Tensor& chosen);

}  // namespace traffic::rl
