/// Products of row blocks with matrices that stay in the cache: oneDNN's brgemm kernels, reached
/// through ATen.
///
/// Measured on a Zen 4 core: 107-116 GFLOP/s in float where at::mm gets 90-100, 205-225 in
/// bfloat16, and the caller decides the blocking, so that what follows a product works on tiles
/// that are still in L1.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace traffic::model {

/// Rows of one block of activations; a block and all that a layer makes of it fit the second-level
/// cache.
inline constexpr std::int64_t kBlockRows = 128;
/// Rows over which a weight gradient is summed at a time.
inline constexpr std::int64_t kChunkRows = 512;

/// Stride of scratch matrices: rows a power of two apart would fall into the same few sets of the
/// cache.
inline constexpr std::int64_t padded(std::int64_t width) { return width + kernels::kWidthUnit; }

/// Calls work(row, rows) for blocks of the rows [first, last). Lengths vary little, so that few
/// kernels are made.
template <typename Work>
void for_row_blocks(std::int64_t first, std::int64_t last, const Work& work) {
  while (first < last) {
    const std::int64_t rows = last - first <= kBlockRows * 3 / 2 ? last - first : kBlockRows;
    work(first, rows);
    first += rows;
  }
}

/// The right-hand side [depth, columns] of a product, cut in panels of `panel` columns. Float: rows
/// of `stride` elements. Bf16: the rows 2k and 2k+1 interleaved element by element ("row pairs"),
/// depth even.
template <typename T>
struct Operand {
  const T* data = nullptr;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;        ///< elements of a row within a panel
  std::int64_t panel = 0;         ///< columns of a panel
  std::int64_t panel_stride = 0;  ///< elements from one panel to the next

  [[nodiscard]] std::int64_t panels() const { return (columns + panel - 1) / panel; }
  [[nodiscard]] std::int64_t panel_columns(std::int64_t p) const {
    return columns - p * panel < panel ? columns - p * panel : panel;
  }
};

/// A matrix whose row pairs (float: rows) are `stride` long, all columns side by side.
template <typename T>
Operand<T> plain_operand(const T* data, std::int64_t depth, std::int64_t columns,
                         std::int64_t stride);

/// c[rows, panel] (+)= a[rows, depth] * b[:, panel p].
template <typename T>
void multiply_panel(kernels::Rows<const T> a, std::int64_t rows, const Operand<T>& b,
                    std::int64_t p, kernels::Rows<float> c, bool accumulate);

/// c[rows, columns] (+)= a[rows, depth] * b.
template <typename T>
void multiply(kernels::Rows<const T> a, std::int64_t rows, const Operand<T>& b,
              kernels::Rows<float> c, bool accumulate);

/// Must end the use of products on a thread: gives back processor state that tile instructions
/// need.
template <typename T>
void finish_products();

/// Whether this processor multiplies bfloat16 in hardware; without, the fused path computes in
/// float only.
bool has_bf16_products();

}  // namespace traffic::model
