/// Matrix products on the CPU: a block of rows times a matrix that stays in the cache. oneDNN's
/// brgemm kernels compute them; ATen gives access to these kernels.
///
/// On a Zen 4 core they reach 107-116 GFLOP/s in float, where at::mm reaches 90-100, and 205-225 in
/// bfloat16. The caller chooses the blocking, so that the operations after a product work on tiles
/// that are still in the L1 cache.
#pragma once

#include <cstdint>

#include "kernels/kernels.h"

namespace traffic::model {

/// Number of rows in a block of activations. A block and all intermediate results of a layer for it
/// fit into the L2 cache.
inline constexpr std::int64_t kBlockRows = 128;
/// Number of rows over which a weight gradient is summed at a time.
inline constexpr std::int64_t kChunkRows = 512;

/// Stride of scratch matrices. Rows at a distance of a power of two would fall into the same few
/// sets of the cache.
inline constexpr std::int64_t padded(std::int64_t width) { return width + kernels::kWidthUnit; }

/// Calls work(row, rows) for blocks of the rows [first, last). Their lengths vary little, so that
/// few kernels are generated.
template <typename Work>
void for_row_blocks(std::int64_t first, std::int64_t last, const Work& work) {
  while (first < last) {
    const std::int64_t rows = last - first <= kBlockRows * 3 / 2 ? last - first : kBlockRows;
    work(first, rows);
    first += rows;
  }
}

/// The right-hand side [depth, columns] of a product, stored in panels of `panel` columns. A float
/// panel consists of rows. A Bf16 panel consists of row pairs: rows 2 k and 2 k + 1 are interleaved
/// element by element, and the depth is even.
template <typename T>
struct Operand {
  const T* data = nullptr;
  std::int64_t depth = 0;
  std::int64_t columns = 0;
  std::int64_t stride = 0;  ///< elements from one row to the next; a row pair takes twice as many
  std::int64_t panel = 0;   ///< columns of a panel
  std::int64_t panel_stride = 0;  ///< elements from one panel to the next

  [[nodiscard]] std::int64_t panels() const { return (columns + panel - 1) / panel; }
  [[nodiscard]] std::int64_t panel_columns(std::int64_t p) const {
    return columns - p * panel < panel ? columns - p * panel : panel;
  }
};

/// The right-hand side for a matrix whose rows are stored as a whole, not in panels. Bf16 data
/// consist of row pairs.
template <typename T>
Operand<T> plain_operand(const T* data, std::int64_t depth, std::int64_t columns,
                         std::int64_t stride);

/// Multiplies by one panel: c[rows, panel] = a[rows, depth] * (panel p of b). Adds to c if
/// `accumulate` is true.
template <typename T>
void multiply_panel(kernels::Rows<const T> a, std::int64_t rows, const Operand<T>& b,
                    std::int64_t p, kernels::Rows<float> c, bool accumulate);

/// c[rows, columns] = a[rows, depth] * b. Adds to c if `accumulate` is true.
template <typename T>
void multiply(kernels::Rows<const T> a, std::int64_t rows, const Operand<T>& b,
              kernels::Rows<float> c, bool accumulate);

/// Call it after the last product on a thread: it releases processor state that tile instructions
/// need.
template <typename T>
void finish_products();

/// Whether this processor multiplies bfloat16 in hardware; otherwise the fused path computes in
/// float only.
bool has_bf16_products();

}  // namespace traffic::model
