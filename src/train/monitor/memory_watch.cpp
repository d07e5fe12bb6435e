#include "monitor/memory_watch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace traffic::train {
namespace {

double gib(std::int64_t bytes) { return static_cast<double>(bytes) / kBytesPerGiB; }

double limit_of(double wanted_gb, double share, std::int64_t total) {
  return wanted_gb > 0.0 ? wanted_gb : share * gib(total);
}

}  // namespace

double allowed_share(double memory_fraction, double target_vram_gb, std::int64_t total_bytes) {
  if (target_vram_gb <= 0.0 || total_bytes <= 0) return memory_fraction;
  return std::min(memory_fraction, target_vram_gb / gib(total_bytes));
}

std::string_view advise_batch(double used_share) {
  if (used_share < 0.80) return "data.batch_size can grow by 4 to 8";
  if (used_share <= 0.90) return "data.batch_size is right";
  if (used_share <= 0.95) {
    return "lower data.batch_size by 4 to 8, or set train.gradient_checkpointing = true";
  }
  return "lower data.batch_size by 8 to 12";
}

std::string_view advise_after_out_of_memory() {
  return "lower data.batch_size by 12 to 16 (and raise train.accumulation_steps), or set "
         "train.gradient_checkpointing = true, or use --preset vram";
}

ResourceError out_of_gpu_memory(std::string_view message) {
  return ResourceError("out of GPU memory: {}; {}", message.substr(0, message.find('\n')),
                       advise_after_out_of_memory());
}

MemoryActions MemoryWatch::look(const GpuMemory& memory) {
  constexpr double kAllocatedShare = 5.0 / 6.0;
  constexpr double kReservedShare = 7.0 / 8.0;
  MemoryActions actions;
  const double allocated_gb =
      limit_of(limits_.allocated_gb, limits_.share * kAllocatedShare, memory.total);
  const double reserved_gb =
      limit_of(limits_.reserved_gb, limits_.share * kReservedShare, memory.total);
  const double used_share = memory.total > 0 ? static_cast<double>(memory.peak_allocated) /
                                                   static_cast<double>(memory.total)
                                             : 0.0;
  const bool much_allocated = gib(memory.allocated) > allocated_gb;
  if (much_allocated && !std::exchange(said_allocated_, much_allocated)) {
    actions.warnings.push_back(
        fmt::format("GPU memory: {:.1f} GiB in use, over gpu.allocated_limit_gb = {:.1f}; lower "
                    "data.batch_size",
                    gib(memory.allocated), allocated_gb));
  }
  said_allocated_ = much_allocated;
  // The peak never falls, so this warning appears only once.
  if (gib(memory.peak_allocated) > reserved_gb && !std::exchange(said_peak_, true)) {
    actions.warnings.push_back(
        fmt::format("GPU memory: {:.1f} GiB in use at the peak ({:.0f} % of the GPU); set "
                    "train.gradient_checkpointing = true; {}",
                    gib(memory.peak_allocated), 100.0 * used_share, advise_batch(used_share)));
  }
  // Clearing the cache returns memory that no tensor uses. If tensors use all of the memory, it
  // would only cost time.
  actions.clear_cache = gib(memory.reserved) > reserved_gb && memory.reserved > memory.allocated;
  return actions;
}

}  // namespace traffic::train
