#include "world_model/batch_size.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>

#include "monitor/gpu.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

/// Free memory for one rank within the limits of [memory] and [gpu].
std::int64_t free_memory_of_a_rank(const config::Config& config,
                                   const comm::Communicator& communicator) {
  const at::Device device = communicator.device();
  const std::int64_t ranks = communicator.topology().local_size();
  if (device.is_cuda()) {
    const GpuMemory gpu = gpu_memory(device);
    const double share =
        allowed_share(config.gpu.memory_fraction, config.memory.target_vram_gb, gpu.total);
    const auto allowed = static_cast<std::int64_t>(share * static_cast<double>(gpu.total));
    return std::max<std::int64_t>(std::min(gpu.free, allowed - gpu.reserved), 0);
  }
  std::int64_t free = available_memory_bytes();
  if (config.memory.target_memory_gb > 0.0) {
    const auto target = static_cast<std::int64_t>(config.memory.target_memory_gb * kBytesPerGiB);
    free = std::min(free, target - ranks * rss_bytes());
  }
  // The ranks may use more than memory.target_memory_gb already.
  return std::max<std::int64_t>(free, 0) / ranks;
}

}  // namespace

std::string advice_on_batch(std::int64_t batch_size, std::int64_t steps_per_epoch) {
  constexpr std::int64_t kSmall = 8;
  constexpr std::int64_t kLarge = 64;
  constexpr std::int64_t kFewSteps = 50;
  if (batch_size < kSmall) {
    return "; a small batch needs more time per sample: raise data.batch_size";
  }
  if (batch_size > kLarge && steps_per_epoch < kFewSteps) {
    return fmt::format(
        "; an epoch has only {} step{} with so large a batch, so little is learned: lower "
        "data.batch_size",
        steps_per_epoch, steps_per_epoch == 1 ? "" : "s");
  }
  return "";
}

std::int64_t batch_size_for_memory(std::int64_t free_bytes) {
  const double free_gib = static_cast<double>(free_bytes) / kBytesPerGiB;
  if (free_gib > 21) return 48;
  if (free_gib > 20) return 40;
  if (free_gib > 19) return 32;
  if (free_gib > 4) return 16;
  if (free_gib > 2) return 8;
  return 4;
}

std::int64_t activation_bytes(const config::Config& config) {
  // In units of hidden_dim floats per vehicle and frame, and of lstm_hidden floats per vehicle and
  // time step.
  constexpr std::int64_t kOfEncoder = 4;
  constexpr std::int64_t kOfLayer = 14;
  constexpr std::int64_t kOfLstmLayer = 10;
  const config::Data& data = config.data;
  const config::Model& model = config.model;
  const std::int64_t vehicles = data.batch_size * data.max_vehicles;
  const std::int64_t of_layers = config.train.gradient_checkpointing ? kOfLayer + model.gnn_layers
                                                                     : kOfLayer * model.gnn_layers;
  const std::int64_t encoder =
      vehicles * data.history_frames * model.hidden_dim * (kOfEncoder + of_layers);
  const std::int64_t lstm = vehicles * (data.history_frames + data.horizon_frames) *
                            model.lstm_hidden * model.lstm_layers * kOfLstmLayer;
  const std::int64_t bytes = config.train.precision == "fp32" ? 4 : 2;
  return bytes * (encoder + lstm);
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
      static_cast<double>(free_memory_of_a_rank(config, communicator)), comm::ReduceOp::kMin));
  batch_size = batch_size_for_memory(free_bytes);
  spdlog::info("data.batch_size = {} for {} of free memory per rank", batch_size,
               human_bytes(free_bytes));
  return config;
}

}  // namespace traffic::train
