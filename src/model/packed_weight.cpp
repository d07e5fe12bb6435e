// Packs weights for matrix products on the CPU, and computes the gradients of weights.
#include "packed_weight.h"

#include <ATen/Parallel.h>

#include <algorithm>

#include "buffer_pool.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

using kernels::Bf16;
using kernels::kPanel;
using kernels::kWidthUnit;

/// Maximum number of rows of a weight gradient in one matrix product.
constexpr std::int64_t kTileRows = 128;

void check_weight(const at::Tensor& weight) {
  TRAFFIC_CHECK(weight.is_contiguous() && weight.scalar_type() == at::kFloat,
                "weights must be contiguous float32");
  TRAFFIC_CHECK(weight.size(0) % kWidthUnit == 0 && weight.size(1) % kWidthUnit == 0,
                "a weight is {} x {}, expected multiples of {}", weight.size(0), weight.size(1),
                kWidthUnit);
}

/// Minimum number of parts for one thread (panels in pack_forward(), groups of rows in
/// pack_backward()). Packing fewer parts takes less time than waking up a thread.
/// @param values number of values in a part
std::int64_t grain_of(std::int64_t values) {
  constexpr std::int64_t kValuesOfAThread = std::int64_t{1} << 15;
  return std::max<std::int64_t>(1, kValuesOfAThread / values);
}

}  // namespace

template <typename T>
PackedWeight<T> pack_forward(const at::Tensor& weight, RowOrder order) {
  check_weight(weight);
  const std::int64_t out = weight.size(0);
  const std::int64_t in = weight.size(1);
  const std::int64_t panels = (out + kPanel - 1) / kPanel;
  PackedWeight<T> packed{{}, pooled_empty<T>({panels, in, kPanel})};
  packed.operand = {.data = data<T>(packed.storage),
                    .depth = in,
                    .columns = out,
                    .stride = kPanel,
                    .panel = kPanel,
                    .panel_stride = in * kPanel};
  const float* rows = weight.const_data_ptr<float>();
  constexpr std::int64_t kGroups = kPanel / kWidthUnit;
  constexpr std::int64_t kGroupStride = kWidthUnit * (sizeof(T) == 2 ? 2 : 1);
  at::parallel_for(0, panels, grain_of(in * kPanel), [&](std::int64_t first, std::int64_t last) {
    for (std::int64_t g = first * kGroups; g < std::min(last * kGroups, out / kWidthUnit); ++g) {
      kernels::table<T>().pack_weight_rows(
          rows + order.first_row(g, out) * in, in, in,
          data<T>(packed.storage) + g / kGroups * in * kPanel + g % kGroups * kGroupStride);
    }
  });
  return packed;
}

template <typename T>
PackedWeight<T> pack_backward(const at::Tensor& weight, RowOrder order) {
  check_weight(weight);
  const std::int64_t out = weight.size(0);
  const std::int64_t in = weight.size(1);
  const std::int64_t panels = (in + kPanel - 1) / kPanel;
  PackedWeight<T> packed{{}, pooled_empty<T>({panels, out, kPanel})};
  packed.operand = {.data = data<T>(packed.storage),
                    .depth = out,
                    .columns = in,
                    .stride = kPanel,
                    .panel = kPanel,
                    .panel_stride = out * kPanel};
  const float* rows = weight.const_data_ptr<float>();
  at::parallel_for(
      0, out / kWidthUnit, grain_of(in * kWidthUnit), [&](std::int64_t first, std::int64_t last) {
        for (std::int64_t g = first; g < last; ++g) {
          const float* group = rows + order.first_row(g, out) * in;
          for (std::int64_t p = 0; p < panels; ++p) {
            kernels::table<T>().pack_pairs_float(
                {group + p * kPanel, in}, kWidthUnit, packed.operand.panel_columns(p),
                {data<T>(packed.storage) + (p * out + g * kWidthUnit) * kPanel, kPanel});
          }
        }
      });
  return packed;
}

template <typename T>
void add_weight_gradient(const WeightGradient<T>& args) {
  const std::int64_t out = args.grad.size(0);
  const std::int64_t in = args.grad.size(1);
  at::parallel_for(0, (out + kTileRows - 1) / kTileRows, 1,
                   [&](std::int64_t first, std::int64_t last) {
                     for (std::int64_t row = first * kTileRows;
                          row < std::min(last * kTileRows, out); row += kTileRows) {
                       const kernels::Rows<const T> tile{
                           args.grad_y_transposed.data + row * args.grad_y_transposed.stride,
                           args.grad_y_transposed.stride};
                       multiply<T>(tile, std::min(kTileRows, out - row), args.x,
                                   {data<float>(args.grad) + row * in, in}, args.accumulate);
                     }
                     finish_products<T>();
                   });
}

template <typename T>
void transpose_rows(kernels::Rows<const T> grad_y, std::int64_t rows, std::int64_t out,
                    RowOrder order, kernels::Rows<T> transposed) {
  if (order.gates == 1) {
    kernels::table<T>().transpose(grad_y, rows, out, transposed);
    return;
  }
  for (std::int64_t g = 0; g < out / kWidthUnit; ++g) {
    kernels::table<T>().transpose(
        {grad_y.data + g * kWidthUnit, grad_y.stride}, rows, kWidthUnit,
        {transposed.data + order.first_row(g, out) * transposed.stride, transposed.stride});
  }
}

template PackedWeight<float> pack_forward<float>(const at::Tensor&, RowOrder);
template PackedWeight<Bf16> pack_forward<Bf16>(const at::Tensor&, RowOrder);
template PackedWeight<float> pack_backward<float>(const at::Tensor&, RowOrder);
template PackedWeight<Bf16> pack_backward<Bf16>(const at::Tensor&, RowOrder);
template void add_weight_gradient<float>(const WeightGradient<float>&);
template void add_weight_gradient<Bf16>(const WeightGradient<Bf16>&);
template void transpose_rows(kernels::Rows<const float>, std::int64_t, std::int64_t, RowOrder,
                             kernels::Rows<float>);
template void transpose_rows(kernels::Rows<const Bf16>, std::int64_t, std::int64_t, RowOrder,
                             kernels::Rows<Bf16>);

}  // namespace traffic::model
