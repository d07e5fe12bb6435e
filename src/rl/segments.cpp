// Segments: sums, maxima and searches within the rows of each state of a packed tensor.
#include "traffic/rl/segments.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "check.h"

namespace traffic::rl {

Segments::Segments(torch::Tensor ptr, torch::Device device) : ptr_(std::move(ptr)) {
  if (!ptr_.defined() || ptr_.dim() != 1 || ptr_.size(0) < 1 ||
      ptr_.scalar_type() != torch::kInt64 || !ptr_.is_cpu()) {
    throw ShapeError("segments: ptr is {}, expected [B + 1] int64 on the CPU", describe(ptr_));
  }
  ptr_ = ptr_.contiguous();
  device_ptr_ = ptr_.to(device);
  const auto* at = ptr_.const_data_ptr<std::int64_t>();
  if (at[0] != 0) throw ShapeError("segments: ptr begins with {}, expected 0", at[0]);
  for (std::int64_t b = 0; b < count(); ++b) {
    if (at[b + 1] < at[b]) {
      throw ShapeError("segments: ptr decreases from {} to {} at segment {}", at[b], at[b + 1], b);
    }
  }
  rows_ = at[count()];

  torch::Tensor index = torch::empty({rows_}, torch::kInt64);
  auto* index_of = index.mutable_data_ptr<std::int64_t>();
  for (std::int64_t b = 0; b < count(); ++b) {
    std::fill(index_of + at[b], index_of + at[b + 1], b);
  }
  index_ = index.to(device);
}

torch::Tensor Segments::starts() const { return device_ptr_.slice(0, 0, count()); }

torch::Tensor Segments::sizes() const { return device_ptr_.diff(); }

torch::Tensor Segments::sum(const torch::Tensor& x) const {
  return torch::segment_reduce(x, "sum", {}, {}, device_ptr_, 0, /*unsafe=*/true, 0.0);
}

torch::Tensor Segments::max(const torch::Tensor& x, double least) const {
  return torch::segment_reduce(x.detach(), "max", {}, {}, device_ptr_, 0, /*unsafe=*/true, least);
}

torch::Tensor Segments::argmax(const torch::Tensor& x) const {
  constexpr double kLeast = -std::numeric_limits<double>::infinity();
  const torch::Tensor is_largest = x.detach().eq(expand(max(x, kLeast)));
  const torch::Tensor rows = torch::arange(rows_, index_.options());
  return torch::full({count()}, rows_, index_.options())
      .scatter_reduce(0, index_, rows.where(is_largest, torch::full_like(rows, rows_)), "amin");
}

torch::Tensor Segments::log_softmax(const torch::Tensor& x) const {
  constexpr double kOfNothing = -std::numeric_limits<double>::infinity();
  const torch::Tensor from_top = x - expand(max(x, kOfNothing));
  return from_top - expand(sum(from_top.exp()).log());
}

torch::Tensor Segments::expand(const torch::Tensor& y) const { return y.index_select(0, index_); }

SegmentSubset select_segments(const Segments& segments, const torch::Tensor& chosen) {
  check_tensor("select_segments: chosen", chosen, {chosen.numel()}, torch::kInt64, torch::kCPU);
  const torch::Tensor order = chosen.contiguous();
  const auto* pick = order.const_data_ptr<std::int64_t>();
  const auto* at = segments.ptr().const_data_ptr<std::int64_t>();
  torch::Tensor ptr = torch::zeros({order.numel() + 1}, torch::kInt64);
  auto* ends = ptr.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < order.numel(); ++i) {
    if (pick[i] < 0 || pick[i] >= segments.count()) {
      throw ShapeError("select_segments: segment {} was chosen, but there are {} segments", pick[i],
                       segments.count());
    }
    ends[i + 1] = ends[i] + at[pick[i] + 1] - at[pick[i]];
  }
  torch::Tensor rows = torch::empty({ends[order.numel()]}, torch::kInt64);
  auto* row = rows.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < order.numel(); ++i) {
    for (std::int64_t r = at[pick[i]]; r < at[pick[i] + 1]; ++r) *row++ = r;
  }
  return {Segments(ptr, segments.device()), rows.to(segments.device())};
}

}  // namespace traffic::rl
