// Copies the numbers of a tensor for loops on the CPU.
#include "noise.h"

#include <ATen/Dispatch.h>

namespace traffic::rl {

std::vector<double> doubles_of(const torch::Tensor& x) {
  const torch::Tensor on_host = x.detach().to(torch::kCPU).contiguous();
  return AT_DISPATCH_FLOATING_TYPES(on_host.scalar_type(), "doubles_of", [&] {
    const auto* first = on_host.const_data_ptr<scalar_t>();
    return std::vector<double>(first, first + on_host.numel());
  });
}

}  // namespace traffic::rl
