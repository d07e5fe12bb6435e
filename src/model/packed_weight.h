/// Packs the weights W [out, in] of linear layers y = x W^T + b as right-hand sides of products
/// (Operand in gemm.h), and computes their gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <type_traits>

#include "buffer_pool.h"
#include "gemm.h"

namespace traffic::model {

/// The order in which a product contains the rows of a weight, in groups of sixteen.
struct RowOrder {
  /// 1: the order of the weight. 4, for an LSTM: a panel contains all four gates of sixteen units.
  std::int64_t gates = 1;

  /// First row of the weight in group g of sixteen rows; the whole weight has `rows` rows.
  [[nodiscard]] std::int64_t first_row(std::int64_t g, std::int64_t rows) const {
    return g % gates * (rows / gates) + g / gates * kernels::kWidthUnit;
  }
};

/// A weight as the right-hand side of a product.
template <typename T>
struct PackedWeight {
  Operand<T> operand;
  at::Tensor storage;  ///< memory that operand.data points into
};

/// Packs W^T [in, out], for the product y = x W^T.
/// @param weight [out, in] float32, contiguous, both multiples of kernels::kWidthUnit
template <typename T>
PackedWeight<T> pack_forward(const at::Tensor& weight, RowOrder order = {});

/// Packs W [out, in], for the product grad_x = grad_y W.
template <typename T>
PackedWeight<T> pack_backward(const at::Tensor& weight, RowOrder order = {});

/// Arguments of add_weight_gradient(), which computes the gradient of a weight, grad_y^T x, from
/// some rows of grad_y and x.
template <typename T>
struct WeightGradient {
  kernels::Rows<const T> grad_y_transposed;  ///< [out, rows]
  const Operand<T>& x;                       ///< [rows, in]
  at::Tensor grad;                           ///< [out, in] float32 contiguous
  bool accumulate;                           ///< whether to add to `grad` or to overwrite it
};
template <typename T>
void add_weight_gradient(const WeightGradient<T>& args);

/// Writes rows of grad_y as columns of grad_y^T, [out, rows].
/// @param order order of the columns of grad_y; the rows of the result are in the order of the
///   weight
template <typename T>
void transpose_rows(kernels::Rows<const T> grad_y, std::int64_t rows, std::int64_t out,
                    RowOrder order, kernels::Rows<T> transposed);

/// Rows of float activations as the left-hand side of a product: unchanged, or rounded into scratch
/// memory.
template <typename T>
kernels::Rows<const T> left_operand(kernels::Rows<const float> x, std::int64_t rows,
                                    std::int64_t columns, Scratch& scratch) {
  if constexpr (std::is_same_v<T, float>) {
    return x;
  } else {
    T* converted = scratch.take<T>(rows * columns);
    kernels::table<T>().convert({x.data, rows, columns, x.stride}, {converted, columns});
    return {converted, columns};
  }
}

/// Depth of a product that sums over `rows` rows: for bfloat16 rounded up to an even number.
template <typename T>
std::int64_t product_depth(std::int64_t rows) {
  return sizeof(T) == 2 ? (rows + 1) / 2 * 2 : rows;
}

}  // namespace traffic::model
