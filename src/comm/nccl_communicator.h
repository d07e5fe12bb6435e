/// NcclCommunicator is the communicator for CUDA tensors. It runs NCCL on a high-priority stream of
/// its own. CUDA events make each operation wait for the work that is already on the current torch
/// stream, and make later work on that stream wait for the operation. CPU tensors go through an
/// MpiCommunicator, the "host" communicator.
///
/// Before each NCCL operation all ranks compare its header (kind, size, type) over the host
/// communicator. If a rank is missing or in another operation, the error names this rank, and NCCL
/// is not called, because it would wait for the rank for ever. NcclWatchdog handles failures on the
/// GPU.
#pragma once

#include <c10/cuda/CUDAStream.h>

#include <functional>
#include <memory>
#include <optional>

#include "mpi_communicator.h"
#include "nccl_check.h"
#include "nccl_watchdog.h"
#include "traffic/comm/communicator.h"

namespace traffic::comm {

class NcclCommunicator final : public Communicator {
 public:
  /// All ranks of the session must call it together. The session must outlive this object.
  /// @throws ResourceError on all ranks if two ranks share a GPU or a GPU does not exist
  NcclCommunicator(const MpiSession& session, std::unique_ptr<MpiCommunicator> host,
                   at::Device device, const config::Comm& options);
  ~NcclCommunicator() override;

  void barrier() override { host_->barrier(); }
  at::Tensor shared_zeros(std::int64_t count, at::ScalarType dtype) override;
  [[nodiscard]] at::Device device() const override { return device_; }
  Communicator& host() override { return *host_; }
  [[nodiscard]] double waited_s() const override { return host_->waited_s(); }

 protected:
  void do_all_reduce(const at::Tensor& tensor, ReduceOp op) override;
  void do_broadcast(const at::Tensor& tensor, int root) override;
  void do_all_gather(const at::Tensor& tensor, const at::Tensor& into) override;

 private:
  using Enqueue = std::function<ncclResult_t(cudaStream_t)>;

  void check_gpus();
  void connect(double timeout_s);
  void close();
  /// NCCL calls return at once. Waits until the last one has finished its work on the CPU; if the
  /// deadline passes, ends the process.
  void settle(const Deadline& deadline, const char* what);
  void run(const OpHeader& header, const at::Tensor& tensor, const Enqueue& enqueue);

  const MpiSession& session_;
  std::unique_ptr<MpiCommunicator> host_;
  at::Device device_;
  double timeout_s_;
  int exceptions_before_;  ///< uncaught exceptions at construction
  c10::cuda::CUDAStream stream_;
  ncclComm_t comm_ = nullptr;
  std::optional<NcclWatchdog> watchdog_;
};

}  // namespace traffic::comm
