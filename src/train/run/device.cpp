#include <algorithm>
#include <cstdlib>

#include "run/gpu.h"
#include "traffic/os/affinity.h"
#include "traffic/train/run/job.h"

namespace traffic::train {

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
  // mpirun binds a rank to one core; reader threads would share it with the training thread.
  os::lift_binding_of_mpirun();
  if (threads_per_rank > 0) return static_cast<int>(threads_per_rank);
  return std::max(1, os::num_cpus_available() / session.local_size());
}

}  // namespace traffic::train
