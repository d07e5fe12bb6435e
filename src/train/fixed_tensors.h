/// Tensors that stay where they are, filled on the host and sent to the device in one copy.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace traffic::train {

/// Each tensor has an image on the host, in page-locked memory for a GPU. All lie in one buffer a
/// side.
class FixedTensors {
 public:
  struct Spec {
    std::vector<std::int64_t> sizes;
    torch::ScalarType type;
  };
  FixedTensors(const std::vector<Spec>& specs, torch::Device device);

  [[nodiscard]] const torch::Tensor& host(std::size_t i) const { return host_[i]; }
  [[nodiscard]] const torch::Tensor& device(std::size_t i) const { return device_[i]; }

  /// Behind what the current stream was asked for so far. The images may be filled again once the
  /// host has seen a result that depends on this copy.
  void upload() const;

 private:
  torch::Tensor host_bytes_;
  torch::Tensor device_bytes_;
  std::vector<torch::Tensor> host_;
  std::vector<torch::Tensor> device_;
};

}  // namespace traffic::train
