#include "monitor/resources.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "monitor/gpu.h"

namespace traffic::train {
namespace {

constexpr double kLeastIntervalS = 5.0;  ///< minimum time between two readings
/// Maximum share of the time that readings may take.
constexpr double kCostShare = 0.005;
/// Share of the limit above which a warning appears, so that it appears before memory runs out.
constexpr double kWarnShare = 0.9;

/// Names the largest consumer, and the settings that reduce it.
std::string advice_on(const NodeMemory& node) {
  if (node.simulations + node.workers > node.ranks) {
    return fmt::format(
        "simulations and their workers alone use {:.1f} GiB: lower rollout.workers or "
        "rollout.envs_per_worker",
        (node.simulations + node.workers) / kBytesPerGiB);
  }
  return fmt::format(
      "ranks alone use {:.1f} GiB: lower data.batch_size, data.cache_mb or "
      "episodes.train_batch_size, set train.gradient_checkpointing = true, or start fewer ranks",
      node.ranks / kBytesPerGiB);
}

}  // namespace

NodeMemory add_up(const std::vector<ProcessFacts>& family, std::int64_t (*bytes_of)(int pid)) {
  NodeMemory sum;
  for (const ProcessFacts& process : family) {
    const auto bytes = static_cast<double>(bytes_of(process.pid));
    if (process.name.starts_with("sumo_env")) {
      sum.simulations += bytes;
    } else if (process.name.starts_with("rollout_worker")) {
      sum.workers += bytes;
    } else {
      sum.ranks += bytes;
    }
  }
  return sum;
}

std::array<double, Reading::kNumbers> Reading::numbers() const {
  return {node.ranks,   node.workers, node.simulations, gpu_allocated,
          gpu_reserved, gpu_peak,     gpu_busy};
}

Reading Reading::from(std::span<const double, kNumbers> n) {
  return {.node = {.ranks = n[0], .workers = n[1], .simulations = n[2]},
          .gpu_allocated = n[3],
          .gpu_reserved = n[4],
          .gpu_peak = n[5],
          .gpu_busy = n[6]};
}

ResourceReader::ResourceReader(at::Device device, bool first_of_node)
    : device_(device), first_of_node_(first_of_node), pci_bus_id_(gpu_pci_bus_id(device)) {
  if (device_.is_cuda()) nvml_.emplace();
}

Reading ResourceReader::read() {
  const double now_s = steady_seconds();
  if (now_s < next_read_s_) return last_;
  if (device_.is_cuda()) {
    const GpuMemory memory = gpu_memory(device_);
    last_.gpu_allocated = static_cast<double>(memory.allocated);
    last_.gpu_reserved = static_cast<double>(memory.reserved);
    last_.gpu_peak = static_cast<double>(memory.peak_allocated);
    // NVML reports the load of roughly the last second. It is queried before the memory of the
    // processes is counted, because the GPU idles during the count. The first query is ignored,
    // because no training preceded it.
    const auto load = nvml_->load(pci_bus_id_);
    last_.gpu_busy = load && next_read_s_ > 0.0 ? load->busy : -1.0;
  }
  if (first_of_node_) last_.node = add_up(family_of(getpid()), own_share_bytes);
  const double end_s = steady_seconds();
  next_read_s_ = end_s + std::max(kLeastIntervalS, (end_s - now_s) / kCostShare);
  return last_;
}

ResourceWatch::Actions ResourceWatch::look(const std::vector<Reading>& of_ranks) {
  all_ = {};
  gpus_ = {};
  NodeMemory fullest;
  double busy = 0.0;
  std::int64_t num_busy = 0;
  for (const Reading& one : of_ranks) {
    all_.ranks += one.node.ranks;
    all_.workers += one.node.workers;
    all_.simulations += one.node.simulations;
    if (one.node.total() > fullest.total()) fullest = one.node;
    gpus_.gpu_allocated = std::max(gpus_.gpu_allocated, one.gpu_allocated);
    gpus_.gpu_reserved = std::max(gpus_.gpu_reserved, one.gpu_reserved);
    gpus_.gpu_peak = std::max(gpus_.gpu_peak, one.gpu_peak);
    if (one.gpu_reserved <= 0.0 || one.gpu_busy < 0.0) continue;
    busy += one.gpu_busy;
    ++num_busy;
  }
  has_gpus_ = gpus_.gpu_reserved > 0.0;
  gpus_.gpu_busy = num_busy > 0 ? busy / static_cast<double>(num_busy) : -1.0;
  peak_bytes_ = std::max(peak_bytes_, fullest.total());
  Actions actions{.release = fullest.total() > target_bytes_, .warning = {}};
  const bool high = fullest.total() > kWarnShare * target_bytes_;
  if (high && !said_) {
    actions.warning = fmt::format(
        "memory: the ranks, workers and simulations of a node use {:.1f} GiB together, {} {:.1f} "
        "GiB; {}",
        fullest.total() / kBytesPerGiB,
        names_target_ ? "memory.target_memory_gb is" : "the node has", target_bytes_ / kBytesPerGiB,
        advice_on(fullest));
  }
  said_ = high;
  return actions;
}

report::NamedValues ResourceWatch::figures() const {
  report::NamedValues values{{"memory/total_gib", all_.total() / kBytesPerGiB},
                             {"memory/ranks_gib", all_.ranks / kBytesPerGiB},
                             {"memory/workers_gib", all_.workers / kBytesPerGiB},
                             {"memory/simulations_gib", all_.simulations / kBytesPerGiB}};
  if (!has_gpus_) return values;
  values.emplace_back("gpu/allocated_gib", gpus_.gpu_allocated / kBytesPerGiB);
  values.emplace_back("gpu/reserved_gib", gpus_.gpu_reserved / kBytesPerGiB);
  values.emplace_back("gpu/peak_gib", gpus_.gpu_peak / kBytesPerGiB);
  if (gpus_.gpu_busy >= 0.0) values.emplace_back("gpu/busy", gpus_.gpu_busy);
  return values;
}

report::NamedValues ResourceWatch::shown() const {
  report::NamedValues values{{"memory_gib", all_.total() / kBytesPerGiB}};
  if (has_gpus_) values.emplace_back("gpu_gib", gpus_.gpu_reserved / kBytesPerGiB);
  if (has_gpus_ && gpus_.gpu_busy >= 0.0) values.emplace_back("gpu_busy", gpus_.gpu_busy);
  return values;
}

}  // namespace traffic::train
