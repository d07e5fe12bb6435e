#include <sched.h>
#include <torch/cuda.h>

#include <algorithm>
#include <cstring>

#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/train/job.h"

namespace traffic::train {

at::Device choose_device(const std::string& device, const comm::MpiSession& session) {
  const int gpus = torch::cuda::is_available() ? static_cast<int>(torch::cuda::device_count()) : 0;
  if (device == "cpu" || (device == "auto" && gpus == 0)) return at::kCPU;
  if (gpus < session.local_size()) {
    throw ResourceError(
        "run.device: {} ranks on this node, but {} GPUs can be used; start {} ranks a node, or set "
        "run.device = "
        "\"cpu\"",
        session.local_size(), gpus, gpus > 0 ? std::to_string(gpus) : "CPU");
  }
  return {at::kCUDA, static_cast<at::DeviceIndex>(session.local_rank())};
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
