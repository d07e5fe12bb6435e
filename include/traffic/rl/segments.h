/// Rows of many states in one tensor, without padding: the candidates of each state one after the
/// other, and a pointer to where each state begins.
#pragma once

#include <torch/types.h>

#include <cstdint>

namespace traffic::rl {

/// Rows ptr[b] .. ptr[b + 1] belong to segment b; B segments, M rows. A segment is a state or,
/// where selection is made per conflict, a pair of state and conflict. Immutable; copies share
/// storage.
class Segments {
 public:
  /// @param ptr [B + 1] int64 on the CPU, from 0, not falling
  /// @param device where index(), starts() and sizes() live
  /// @throws ShapeError if ptr is anything else
  explicit Segments(torch::Tensor ptr, torch::Device device = torch::kCPU);

  /// The same on another device; itself when it is there.
  [[nodiscard]] Segments on(torch::Device device) const {
    return device == this->device() ? *this : Segments(ptr_, device);
  }
  [[nodiscard]] std::int64_t count() const { return device_ptr_.size(0) - 1; }  ///< B
  [[nodiscard]] std::int64_t rows() const { return rows_; }                     ///< M
  [[nodiscard]] torch::Device device() const { return index_.device(); }
  [[nodiscard]] const torch::Tensor& ptr() const { return ptr_; }      ///< [B + 1] CPU
  [[nodiscard]] const torch::Tensor& index() const { return index_; }  ///< [M] its segment
  [[nodiscard]] torch::Tensor starts() const;                          ///< [B] first row
  [[nodiscard]] torch::Tensor sizes() const;                           ///< [B] rows

  /// Sum of x [M] over each segment, [B]; 0 for an empty one. Differentiable, order fixed.
  [[nodiscard]] torch::Tensor sum(const torch::Tensor& x) const;
  /// Largest of x [M] and `least` in each segment, [B]. Without gradient.
  [[nodiscard]] torch::Tensor max(const torch::Tensor& x, double least) const;
  /// The row of the largest of x [M] in each segment, the first of several, [B] int64; M for an
  /// empty one.
  [[nodiscard]] torch::Tensor argmax(const torch::Tensor& x) const;
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
  Segments segments;   ///< of the chosen ones, in the order asked for
  torch::Tensor rows;  ///< [M'] int64 on their device: which rows of the whole they are
};

/// The rows of a minibatch: x.index_select(0, rows) is packed as `segments` says.
/// @param chosen [B'] int64 on the CPU, indices of segments
/// @throws ShapeError if an index is out of range
SegmentSubset select_segments(const Segments& segments, const torch::Tensor& chosen);

}  // namespace traffic::rl
