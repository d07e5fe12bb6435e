#include "fixed_tensors.h"

#include <functional>
#include <numeric>

namespace traffic::train {
namespace {

constexpr std::int64_t kAlignment = 256;  ///< bytes: that of a GPU's own allocations

std::int64_t bytes_of(const FixedTensors::Spec& spec) {
  return std::accumulate(spec.sizes.begin(), spec.sizes.end(),
                         static_cast<std::int64_t>(c10::elementSize(spec.type)),
                         std::multiplies<>());
}

std::vector<torch::Tensor> views_of(const torch::Tensor& bytes,
                                    const std::vector<FixedTensors::Spec>& specs) {
  std::vector<torch::Tensor> views;
  std::int64_t offset = 0;
  for (const auto& spec : specs) {
    const std::int64_t size = bytes_of(spec);
    views.push_back(bytes.narrow(0, offset, size).view(spec.type).view(spec.sizes));
    offset += (size + kAlignment - 1) / kAlignment * kAlignment;
  }
  return views;
}

}  // namespace

FixedTensors::FixedTensors(const std::vector<Spec>& specs, torch::Device device) {
  std::int64_t total = 0;
  for (const Spec& spec : specs) {
    total += (bytes_of(spec) + kAlignment - 1) / kAlignment * kAlignment;
  }
  const auto bytes = torch::TensorOptions().dtype(torch::kByte);
  host_bytes_ = torch::zeros({total}, bytes.pinned_memory(device.is_cuda()));
  device_bytes_ = torch::zeros({total}, bytes.device(device));
  host_ = views_of(host_bytes_, specs);
  device_ = views_of(device_bytes_, specs);
}

void FixedTensors::upload() const { device_bytes_.copy_(host_bytes_, /*non_blocking=*/true); }

}  // namespace traffic::train
