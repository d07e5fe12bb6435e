#include "doctor/load.h"

#include <unistd.h>

#include "monitor/gpu.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

/// Swap in use, as a share of the memory, above which memory is probably too small at present.
constexpr double kMuchSwap = 0.05;
/// A warning appears if other processes hold more than this share of a GPU's memory, or use more
/// than this share of its time.
constexpr double kMuchOfAGpu = 0.2;
/// GPUs throttle themselves from about this temperature on.
constexpr double kHot_c = 85.0;

}  // namespace

LoadFacts look_at_load() {
  return {.cpus = static_cast<int>(sysconf(_SC_NPROCESSORS_ONLN)),
          .load = load_average(),
          .available_bytes = available_memory_bytes(),
          .swap_bytes = swap_used_bytes()};
}

Finding judge_load(const NodeFacts& node, const LoadFacts& load) {
  Finding finding{
      .subject = "load",
      .found = fmt::format("{}: load {:.1f} on {} processors in the last minute, {} of memory is "
                           "free, {} of swap in use",
                           node.host, load.load, load.cpus, human_bytes(load.available_bytes),
                           human_bytes(load.swap_bytes))};
  const auto warn = [&](const std::string& text) {
    finding.verdict = Verdict::kWarning;
    finding.found += "; " + text;
  };
  constexpr double kOwn = 0.5;  // load of starting this program, and of a desktop
  if (load.load > kOwn && load.cpus - load.load < node.ranks - kOwn) {
    warn(
        "less than one processor for each rank is left, and every step waits for the slowest rank: "
        "end other programs (top shows them) or start fewer ranks");
  }
  if (needed_bytes(node) > load.available_bytes) {
    warn(
        fmt::format("a run may need {} of memory: end programs that hold memory (top, key M), "
                    "start fewer ranks or lower "
                    "rollout.workers",
                    human_bytes(needed_bytes(node))));
  }
  if (static_cast<double>(load.swap_bytes) > kMuchSwap * static_cast<double>(node.memory_bytes)) {
    warn(
        "memory has run short before, and access to swapped memory makes steps wait: end programs "
        "that hold memory, then run swapoff -a && swapon -a, or use --preset memory");
  }
  return finding;
}

GpuFacts look_at_gpu(at::Device device) {
  const GpuMemory memory = gpu_memory(device);
  return {.name = describe_gpu(device),
          .total_bytes = memory.total,
          .free_bytes = memory.free,
          .load = Nvml().load(gpu_pci_bus_id(device))};
}

Finding judge_gpu(const GpuFacts& gpu, const std::string& choice) {
  Finding finding{
      .subject = "device",
      .found = fmt::format("{}: {}, {} free", choice, gpu.name, human_bytes(gpu.free_bytes))};
  if (gpu.load) {
    finding.found +=
        fmt::format(", {:.0f} % busy, {:.0f} C", 100.0 * gpu.load->busy, gpu.load->temperature_c);
  }
  const auto warn = [&](const char* text) {
    finding.verdict = Verdict::kWarning;
    finding.found += text;
  };
  const std::int64_t held = gpu.total_bytes - gpu.free_bytes;
  const bool shared =
      static_cast<double>(held) > kMuchOfAGpu * static_cast<double>(gpu.total_bytes) ||
      (gpu.load && gpu.load->busy > kMuchOfAGpu);
  if (shared) {
    warn(
        "; other processes use this GPU (nvidia-smi lists them): end them, take another GPU "
        "(CUDA_VISIBLE_DEVICES), or set memory.target_vram_gb to the free memory");
  }
  if (gpu.load && gpu.load->temperature_c >= kHot_c) {
    warn("; the GPU throttles itself at this temperature: check its fans and its air flow");
  }
  return finding;
}

}  // namespace traffic::train
