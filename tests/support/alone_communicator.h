/// A communicator for tests that do not run as an MPI job.
#pragma once

#include <torch/types.h>

#include "traffic/comm/communicator.h"

namespace traffic::test {

/// Behaves like the communicator of a job with one rank.
class AloneCommunicator final : public comm::Communicator {
 public:
  explicit AloneCommunicator(at::Device device = at::kCPU)
      : Communicator(comm::make_topology(0, {0})), device_(device) {}
  void barrier() override {}
  at::Tensor shared_zeros(std::int64_t count, at::ScalarType dtype) override {
    return torch::zeros({count}, at::TensorOptions().dtype(dtype).device(device_));
  }
  [[nodiscard]] at::Device device() const override { return device_; }

 protected:
  void do_all_reduce(const at::Tensor& /*tensor*/, comm::ReduceOp /*op*/) override {}
  void do_broadcast(const at::Tensor& /*tensor*/, int /*root*/) override {}
  void do_all_gather(const at::Tensor& tensor, const at::Tensor& into) override {
    into[0].copy_(tensor);
  }

 private:
  at::Device device_;
};

}  // namespace traffic::test
