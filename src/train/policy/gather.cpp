#include "policy/gather.h"

#include <cstring>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// Copies rows of kBytes bytes each. Most rows are a single number. Because the size is known at
/// compile time, such a row is copied by a load and a store instead of a call of memcpy.
template <std::size_t kBytes>
void take_rows(const std::byte* from, const std::int64_t* row, std::int64_t count,
               std::byte* into) {
  for (std::int64_t i = 0; i < count; ++i, into += kBytes) {
    std::memcpy(into, from + static_cast<std::size_t>(row[i]) * kBytes, kBytes);
  }
}

}  // namespace

torch::Tensor gather(const torch::Tensor& x, const torch::Tensor& rows) {
  TRAFFIC_CHECK(
      x.is_cpu() && x.is_contiguous() && rows.is_cpu() && rows.is_contiguous() &&
          rows.scalar_type() == torch::kLong && rows.dim() == 1 && x.dim() > 0,
      "gather() needs contiguous tensors on the CPU and int64 row numbers of one dimension");
  // Checked first: x may have no rows, and the row size below divides by their number.
  const auto* row = rows.const_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < rows.numel(); ++i) {
    TRAFFIC_CHECK(row[i] >= 0 && row[i] < x.size(0), "row {} is outside a tensor of {} rows",
                  row[i], x.size(0));
  }
  std::vector<std::int64_t> sizes = x.sizes().vec();
  sizes[0] = rows.numel();
  torch::Tensor out = torch::empty(sizes, x.options());
  if (out.numel() == 0) return out;
  const std::size_t bytes = x.nbytes() / static_cast<std::size_t>(x.size(0));
  const auto* from = static_cast<const std::byte*>(x.const_data_ptr());
  auto* into = static_cast<std::byte*>(out.mutable_data_ptr());
  if (bytes == sizeof(std::int64_t)) {
    take_rows<sizeof(std::int64_t)>(from, row, rows.numel(), into);
  } else if (bytes == sizeof(std::int32_t)) {
    take_rows<sizeof(std::int32_t)>(from, row, rows.numel(), into);
  } else {
    for (std::int64_t i = 0; i < rows.numel(); ++i, into += bytes) {
      std::memcpy(into, from + static_cast<std::size_t>(row[i]) * bytes, bytes);
    }
  }
  return out;
}

}  // namespace traffic::train
