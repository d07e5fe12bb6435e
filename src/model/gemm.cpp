// Matrix products on the CPU, computed by oneDNN's brgemm kernels.
#include "gemm.h"

#include <ATen/native/CPUBlas.h>

#include <algorithm>

namespace traffic::model {
namespace {

namespace blas = at::native::cpublas;

const at::BFloat16* torch_type(const kernels::Bf16* p) {
  return reinterpret_cast<const at::BFloat16*>(p);
}
const float* torch_type(const float* p) { return p; }

template <typename T>
constexpr bool kPairs = sizeof(T) == 2;  // whether right-hand sides consist of row pairs

/// Maximum depth of one call of brgemm. The panel that the call reads then stays in the cache.
constexpr std::int64_t kDepth = 1024;

}  // namespace

template <typename T>
Operand<T> plain_operand(const T* data, std::int64_t depth, std::int64_t columns,
                         std::int64_t stride) {
  // Each panel consists of parts of the rows. In measurements 64 columns were fastest.
  constexpr std::int64_t kWide = 64;
  return {.data = data,
          .depth = depth,
          .columns = columns,
          .stride = stride,
          .panel = kWide,
          .panel_stride = kPairs<T> ? 2 * kWide : kWide};
}

template <typename T>
void multiply_panel(kernels::Rows<const T> a, std::int64_t rows, const Operand<T>& b,
                    std::int64_t p, kernels::Rows<float> c, bool accumulate) {
  const T* panel = b.data + p * b.panel_stride;
  for (std::int64_t k = 0; k < b.depth; k += kDepth) {
    const std::int64_t depth = std::min(kDepth, b.depth - k);
    blas::brgemm(rows, b.panel_columns(p), depth, a.stride, b.stride, c.stride, accumulate || k > 0,
                 torch_type(a.data + k), torch_type(panel + k * b.stride), c.data, kPairs<T>);
  }
}

template <typename T>
void multiply(kernels::Rows<const T> a, std::int64_t rows, const Operand<T>& b,
              kernels::Rows<float> c, bool accumulate) {
  for (std::int64_t p = 0; p < b.panels(); ++p) {
    multiply_panel(a, rows, b, p, {c.data + p * b.panel, c.stride}, accumulate);
  }
}

template <>
void finish_products<float>() {}
template <>
void finish_products<kernels::Bf16>() {
  blas::brgemm_release();
}

bool has_bf16_products() {
  static const bool has = __builtin_cpu_supports("avx512bf16") != 0;
  return has;
}

template Operand<float> plain_operand(const float*, std::int64_t, std::int64_t, std::int64_t);
template Operand<kernels::Bf16> plain_operand(const kernels::Bf16*, std::int64_t, std::int64_t,
                                              std::int64_t);
template void multiply_panel(kernels::Rows<const float>, std::int64_t, const Operand<float>&,
                             std::int64_t, kernels::Rows<float>, bool);
template void multiply_panel(kernels::Rows<const kernels::Bf16>, std::int64_t,
                             const Operand<kernels::Bf16>&, std::int64_t, kernels::Rows<float>,
                             bool);
template void multiply(kernels::Rows<const float>, std::int64_t, const Operand<float>&,
                       kernels::Rows<float>, bool);
template void multiply(kernels::Rows<const kernels::Bf16>, std::int64_t,
                       const Operand<kernels::Bf16>&, kernels::Rows<float>, bool);

}  // namespace traffic::model
