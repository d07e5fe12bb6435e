// Makes the communicator for the device of a run: MpiCommunicator for the CPU, NcclCommunicator for
// GPUs.
#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <memory>
#include <utility>
#include <vector>

#include "mpi_communicator.h"
#include "traffic/comm/communicator.h"
#include "traffic/core/error.h"

#ifdef TRAFFIC_CUDA
#include "nccl_communicator.h"
#endif

namespace traffic::comm {
namespace {

/// Checks that all ranks use a GPU or all use the CPU. With run.device = "auto" the ranks of a node
/// without GPUs choose the CPU, while ranks of other nodes choose GPUs.
void check_same_kind(Communicator& host, at::Device device) {
  const at::Tensor all = host.all_gather(at::scalar_tensor(device.is_cuda() ? 1 : 0, at::kLong));
  const std::int64_t* on_gpu = all.const_data_ptr<std::int64_t>();
  std::vector<int> others;
  for (int r = 1; r < host.size(); ++r) {
    if (on_gpu[r] != on_gpu[0]) others.push_back(r);
  }
  if (others.empty()) return;
  const char* const first = on_gpu[0] != 0 ? "a GPU" : "no GPU";
  const char* const rest = on_gpu[0] != 0 ? "no GPU" : "a GPU";
  throw ResourceError(
      "run.device: rank 0 has {}, ranks {} have {}; start no more ranks per node than the node has "
      "GPUs, or set run.device = \"cpu\"",
      first, fmt::join(others, ", "), rest);
}

}  // namespace

std::unique_ptr<Communicator> make_communicator(const MpiSession& session, at::Device device,
                                                const config::Comm& options) {
  const MpiCommunicatorOptions mpi_options{.timeout_s = options.timeout_s,
                                           .init_timeout_s = options.init_timeout_s};
  auto host = std::make_unique<MpiCommunicator>(session, mpi_options);
  check_same_kind(*host, device);
  if (device.is_cpu()) return host;
#ifdef TRAFFIC_CUDA
  return std::make_unique<NcclCommunicator>(session, std::move(host), device, options);
#else
  throw ConfigError("run.device = {}: this program was built without CUDA (preset cuda)",
                    device.str());
#endif
}

}  // namespace traffic::comm
