#include "run/start_report.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "monitor/gpu.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

/// Memory that the libraries of a rank allocate in the first backward pass and never return;
/// measured on CPUs.
constexpr std::int64_t kLibraryBytes = std::int64_t{90} << 20;

std::string bytes_text(double bytes) { return human_bytes(static_cast<std::int64_t>(bytes)); }

/// Shortens a count for the log, such as "803", "20.1 k", "3.50 M".
std::string count_text(std::int64_t count) {
  constexpr std::int64_t kThousand = 1000;
  constexpr std::int64_t kMillion = 1'000'000;
  if (count < 10 * kThousand) return fmt::format("{}", count);
  if (count < kMillion) return fmt::format("{:.1f} k", static_cast<double>(count) / kThousand);
  return fmt::format("{:.2f} M", static_cast<double>(count) / kMillion);
}

MemoryEstimate estimate_memory(Run& run, const MemoryNeeds& needs, const Reading& reading,
                               std::int64_t saved_bytes) {
  const double target = run.config().memory.target_memory_gb * kBytesPerGiB;
  const auto ranks = static_cast<double>(run.communicator().topology().local_size());
  const double now = reading.node.total();
  return {.now = now,
          .later = now + ranks * static_cast<double>(needs.host + kLibraryBytes) +
                   static_cast<double>(saved_bytes),
          .allowed = target > 0.0 ? target : static_cast<double>(total_memory_bytes())};
}

}  // namespace

std::string parameters_text(const comm::ParameterArena& parameters) {
  std::vector<std::pair<std::string, std::int64_t>> networks;
  std::int64_t all = 0;
  for (const comm::ArenaEntry& entry : parameters.entries()) {
    const std::string network = entry.name.substr(0, entry.name.find('.'));
    if (networks.empty() || networks.back().first != network) networks.emplace_back(network, 0);
    networks.back().second += entry.numel;
    all += entry.numel;
  }
  std::string text = fmt::format("{} parameters are trained", count_text(all));
  for (std::size_t i = 0; i < networks.size(); ++i) {
    text += fmt::format("{} {} {}", i == 0 ? ":" : ",", networks[i].first,
                        count_text(networks[i].second));
  }
  return text;
}

std::string memory_text(const MemoryEstimate& estimate) {
  return fmt::format("main memory: {} now, an estimated {} during training, limit {}",
                     bytes_text(estimate.now), bytes_text(estimate.later),
                     bytes_text(estimate.allowed));
}

void report_start(Run& run, const Training& training, const Reading& reading,
                  std::int64_t saved_bytes) {
  if (!run.is_reporter()) return;
  spdlog::info("{}", parameters_text(training.parameters()));
  if (const std::string batch = training.batch_text(); !batch.empty()) {
    spdlog::info("a step learns from {}", batch);
  }
  const MemoryNeeds needs = training.memory_needs();
  const MemoryEstimate estimate = estimate_memory(run, needs, reading, saved_bytes);
  spdlog::info("{}", memory_text(estimate));
  if (estimate.later > estimate.allowed) {
    spdlog::warn(
        "the estimate exceeds the limit: lower rollout.workers, data.batch_size, data.cache_mb or "
        "episodes.train_batch_size, start fewer ranks, or raise memory.target_memory_gb");
  }
  const at::Device device = run.communicator().device();
  if (!device.is_cuda()) return;
  const GpuMemory gpu = gpu_memory(device);
  const double later = static_cast<double>(gpu.allocated + needs.gpu);
  const double allowed = allowed_share(run.config().gpu.memory_fraction,
                                       run.config().memory.target_vram_gb, gpu.total) *
                         static_cast<double>(gpu.total);
  spdlog::info("GPU memory of a rank: {} now, an estimated {} during training, limit {}",
               human_bytes(gpu.allocated), bytes_text(later), bytes_text(allowed));
  if (later > allowed)
    spdlog::warn("the estimate exceeds the limit: {}", advise_after_out_of_memory());
}

}  // namespace traffic::train
