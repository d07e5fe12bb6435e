#include "monitor/resource_keeper.h"

#include <spdlog/spdlog.h>

#include "monitor/gpu.h"
#include "traffic/core/process.h"
#include "traffic/model/memory.h"
#include "traffic/os/heap.h"

namespace traffic::train {
namespace {

/// Minimum time between two releases: released memory is soon allocated again.
constexpr double kReleaseIntervalS = 10.0;

MemoryLimits gpu_limits(at::Device device, const config::Config& config) {
  return {.allocated_gb = config.gpu.allocated_limit_gb,
          .reserved_gb = config.gpu.reserved_limit_gb,
          .share = limit_gpu_memory(device, config)};
}

}  // namespace

ResourceKeeper::ResourceKeeper(const comm::Communicator& communicator, const config::Config& config)
    : reports_(communicator.rank() == 0),
      device_(communicator.device()),
      gpu_(gpu_limits(device_, config)),
      reader_(device_, communicator.topology().is_leader()),
      all_(config.memory.target_memory_gb * kBytesPerGiB,
           static_cast<double>(total_memory_bytes())) {}

void ResourceKeeper::look(const std::vector<Reading>& of_ranks) {
  const ResourceWatch::Actions actions = all_.look(of_ranks);
  if (actions.release && since_release_.seconds() > kReleaseIntervalS) {
    model::release_cached_memory();
    os::return_free_memory();
    since_release_ = Stopwatch();
  }
  if (actions.warning && reports_) spdlog::warn("{}", *actions.warning);
}

void ResourceKeeper::look_at_gpu() {
  if (!device_.is_cuda()) return;
  const MemoryActions actions = gpu_.look(gpu_memory(device_));
  for (const std::string& warning : actions.warnings) spdlog::warn("{}", warning);
  if (actions.clear_cache) empty_gpu_cache(device_);
}

}  // namespace traffic::train
