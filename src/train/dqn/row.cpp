#include "dqn/row.h"

#include <algorithm>

#include "traffic/core/error.h"

namespace traffic::train::dqn {

Rows take_apart(const RowLayout& layout, const torch::Tensor& rows) {
  TRAFFIC_CHECK(rows.dim() == 2 && rows.size(1) == layout.width(),
                "rows have {} numbers, expected {}", rows.size(-1), layout.width());
  const torch::Tensor places =
      rows.narrow(1, layout.first_place(), layout.places * layout.width_of_place())
          .reshape({rows.size(0), layout.places, layout.width_of_place()});
  const torch::Tensor taken = places.select(2, 0).gt(0.5).nonzero();
  const torch::Tensor state = taken.select(1, 0).contiguous();
  const torch::Tensor place = taken.select(1, 1).contiguous();
  return {.conflict = rows.narrow(1, 0, layout.widths.conflict).contiguous(),
          .shared = rows.narrow(1, layout.widths.conflict, layout.widths.shared).contiguous(),
          .own = places.narrow(2, 1, layout.widths.own)
                     .reshape({-1, layout.widths.own})
                     .index_select(0, state * layout.places + place),
          .state = state,
          .place = place};
}

RowWriter::RowWriter(const RowLayout& layout, std::span<const float> conflict,
                     std::span<const float> shared, std::span<float> row)
    : layout_(layout), row_(row) {
  std::ranges::fill(row, 0.0F);
  const auto rest = std::ranges::copy(conflict, row.begin()).out;
  std::ranges::copy(shared, rest);
}

std::int64_t RowWriter::add_decision(std::span<const float> own) {
  TRAFFIC_CHECK(decisions_ < layout_.places, "a state has more than {} decisions", layout_.places);
  const auto first =
      static_cast<std::size_t>(layout_.first_place() + decisions_ * layout_.width_of_place());
  row_[first] = 1.0F;
  std::ranges::copy(own, row_.begin() + static_cast<std::ptrdiff_t>(first) + 1);
  return decisions_++;
}

}  // namespace traffic::train::dqn
