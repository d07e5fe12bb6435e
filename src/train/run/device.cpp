#include <sched.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "run/gpu.h"
#include "traffic/core/process.h"
#include "traffic/train/run/job.h"

namespace traffic::train {

DeviceChoice choose_device(const std::string& wish, const comm::MpiSession& session) {
  // The driver is not even asked where nobody wants a GPU.
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
  // mpirun binds each of two ranks to one core; reader threads would share it with the training
  // thread.
  cpu_set_t all;
  std::memset(&all, 0xFF, sizeof(all));
  sched_setaffinity(0, sizeof(all), &all);  // the kernel keeps what the control group allows
  if (threads_per_rank > 0) return static_cast<int>(threads_per_rank);
  return std::max(1, num_cpus_available() / session.local_size());
}

}  // namespace traffic::train
