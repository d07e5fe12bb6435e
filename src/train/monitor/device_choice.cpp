#include "monitor/device_choice.h"

#include <algorithm>
#include <cstdlib>

#include "monitor/gpu.h"
#include "traffic/core/error.h"
#include "traffic/os/affinity.h"

namespace traffic::train {
namespace {

DeviceChoice without_gpu(const DeviceSituation& s) {
  if (s.wish == "auto") {
    const std::string why = !s.built_with_cuda ? "this program was built without CUDA (preset cuda)"
                            : s.why_no_gpus.empty()
                                ? "no GPU can be used"
                                : fmt::format("no GPU can be used ({})", s.why_no_gpus);
    return {c10::kCPU, fmt::format("run.device = \"auto\": the CPU, because {}", why)};
  }
  if (!s.built_with_cuda) {
    throw ConfigError(
        "run.device = \"cuda\": this program was built without CUDA; build it with "
        "launch/setup.sh --cuda and launch/build.sh cuda, or set run.device = \"cpu\"");
  }
  throw ResourceError(
      "run.device = \"cuda\": found no GPU that can be used ({}), expected one for each of the {} "
      "ranks on this node; look at nvidia-smi and CUDA_VISIBLE_DEVICES{}, or set run.device = "
      "\"cpu\"",
      s.why_no_gpus.empty() ? "the CUDA runtime gives no reason" : s.why_no_gpus, s.ranks_on_node,
      s.visible_gpus.empty() ? std::string() : fmt::format(" (it is {})", s.visible_gpus));
}

}  // namespace

DeviceChoice decide_device(const DeviceSituation& s) {
  if (s.wish == "cpu") return {c10::kCPU, "run.device = \"cpu\""};
  if (s.num_gpus == 0) return without_gpu(s);
  if (s.num_gpus >= s.ranks_on_node) {
    return {at::Device(c10::kCUDA, static_cast<c10::DeviceIndex>(s.local_rank)),
            fmt::format("run.device = \"{}\": GPU {} of {}", s.wish, s.local_rank, s.num_gpus)};
  }
  if (s.num_gpus == 1 && !s.visible_gpus.empty()) {
    return {at::Device(c10::kCUDA, 0),
            fmt::format("run.device = \"{}\": the only GPU that is visible to this rank "
                        "(CUDA_VISIBLE_DEVICES = {})",
                        s.wish, s.visible_gpus)};
  }
  throw ResourceError(
      "run.device = \"{}\": found {} GPUs for {} ranks on this node, expected one for each rank; "
      "start no more than {} ranks per node, or set run.device = \"cpu\"",
      s.wish, s.num_gpus, s.ranks_on_node, s.num_gpus);
}

DeviceChoice choose_device(const std::string& wish, const comm::MpiSession& session) {
  // Do not even query the driver if the configuration excludes GPUs.
  const GpuInventory gpus = wish == "cpu" ? GpuInventory{} : find_gpus();
  const char* visible = std::getenv("CUDA_VISIBLE_DEVICES");
  return decide_device({.wish = wish,
                        .built_with_cuda = gpus.built_with_cuda,
                        .num_gpus = gpus.count,
                        .why_no_gpus = gpus.problem,
                        .ranks_on_node = session.local_size(),
                        .local_rank = session.local_rank(),
                        .visible_gpus = visible == nullptr ? "" : visible});
}

int choose_threads(std::int64_t threads_per_rank, const comm::MpiSession& session) {
  // mpirun binds a rank to one core. Reader threads would share this core with the training thread.
  os::lift_binding_of_mpirun();
  if (threads_per_rank > 0) return static_cast<int>(threads_per_rank);
  return std::max(1, os::num_cpus_available() / session.local_size());
}

}  // namespace traffic::train
