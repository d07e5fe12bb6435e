/// Compares the memory in use on a GPU with its limits. Gives warnings with advice, and decides
/// when torch's cache of GPU memory should be cleared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/core/error.h"

namespace traffic::train {

inline constexpr double kBytesPerGiB = 1024.0 * 1024.0 * 1024.0;

/// The memory of a GPU in bytes, as torch's allocator counts it.
struct GpuMemory {
  std::int64_t allocated = 0;       ///< memory in tensors
  std::int64_t reserved = 0;        ///< memory in tensors or cached
  std::int64_t peak_allocated = 0;  ///< maximum of `allocated` so far
  std::int64_t total = 0;           ///< memory of the GPU
  std::int64_t free = 0;            ///< memory of the GPU that no process uses
};

/// Limits for the warnings about GPU memory, in GiB.
struct MemoryLimits {
  double allocated_gb = 0;  ///< 0 means 5/6 of the rank's share of the GPU
  double reserved_gb = 0;   ///< 0 means 7/8 of the rank's share of the GPU
  double share = 1.0;       ///< share of the GPU's memory that the rank may use
};

/// The share of a GPU with total_bytes of memory that a rank may use.
/// @param memory_fraction gpu.memory_fraction
/// @param target_vram_gb memory.target_vram_gb; 0 means no further limit
double allowed_share(double memory_fraction, double target_vram_gb, std::int64_t total_bytes);

/// Advice on the batch size for a given peak use of the memory.
/// @param used_share peak use divided by the total memory
std::string_view advise_batch(double used_share);
/// Advice after a failed allocation.
std::string_view advise_after_out_of_memory();
/// Makes the error for a failed GPU allocation, which can be thrown on all ranks.
/// @param message message of torch, of which the error contains the first line
ResourceError out_of_gpu_memory(std::string_view message);

/// Result of a check of the memory.
struct MemoryActions {
  bool clear_cache = false;
  std::vector<std::string> warnings;
};

/// Watches one GPU. It gives each warning once, and again only if its cause ceased in between.
class MemoryWatch {
 public:
  explicit MemoryWatch(MemoryLimits limits) : limits_(limits) {}
  /// Compares the memory with the limits.
  MemoryActions look(const GpuMemory& memory);

 private:
  MemoryLimits limits_;
  bool said_allocated_ = false;
  bool said_peak_ = false;
};

}  // namespace traffic::train
