#include "world_model/batch_size.h"

#include <spdlog/spdlog.h>

#include "run/gpu.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

std::int64_t free_memory_of_a_rank(const comm::Communicator& communicator) {
  const at::Device device = communicator.device();
  if (device.is_cuda()) return gpu_memory(device).free;
  return available_memory_bytes() / communicator.topology().local_size();
}

}  // namespace

std::int64_t batch_size_for_memory(std::int64_t free_bytes) {
  constexpr double kGiB = 1024.0 * 1024.0 * 1024.0;
  const double free_gib = static_cast<double>(free_bytes) / kGiB;
  if (free_gib > 21) return 48;
  if (free_gib > 20) return 40;
  if (free_gib > 19) return 32;
  if (free_gib > 4) return 16;
  if (free_gib > 2) return 8;
  return 4;
}

config::Config with_batch_size(Run& run) {
  config::Config config = run.config();
  std::int64_t& batch_size = config.data.batch_size;
  if (batch_size > 0) return config;
  if (!run.is_new()) {
    batch_size = checkpoint::load(run.resume_path()).integer("data/batch_size");
    return config;
  }
  comm::Communicator& communicator = run.communicator();
  const auto free_bytes = static_cast<std::int64_t>(communicator.all_reduce_scalar(
      static_cast<double>(free_memory_of_a_rank(communicator)), comm::ReduceOp::kMin));
  batch_size = batch_size_for_memory(free_bytes);
  spdlog::info("data.batch_size = {} for {} of free memory a rank", batch_size,
               human_bytes(free_bytes));
  return config;
}

}  // namespace traffic::train
