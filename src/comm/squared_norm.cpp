// Sum of the squares of a tensor, on the CPU or a GPU.
#include "squared_norm.h"

#include <ATen/ATen.h>

#include "reduce_kernels.h"

namespace traffic::comm {

double squared_norm(const at::Tensor& tensor) {
  if (tensor.device().is_cpu()) {
    return sum_of_squares(tensor.const_data_ptr<float>(), tensor.numel());
  }
  const double norm = at::norm(tensor, 2, at::kDouble).item<double>();
  return norm * norm;
}

}  // namespace traffic::comm
