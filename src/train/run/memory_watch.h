/// Watches the memory of a GPU: warns, gives cached memory back, advises what to change.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace traffic::train {

inline constexpr double kBytesPerGiB = 1024.0 * 1024.0 * 1024.0;

/// Bytes, as the allocator of torch counts them.
struct GpuMemory {
  std::int64_t allocated = 0;  ///< in tensors
  std::int64_t reserved = 0;   ///< in tensors or cached
  std::int64_t peak_allocated = 0;
  std::int64_t total = 0;  ///< of the GPU
  std::int64_t free = 0;   ///< of the GPU, for all processes
};

struct MemoryLimits {
  double allocated_gb = 0;  ///< 0: 5/6 of what a rank may take
  double reserved_gb = 0;   ///< 0: 7/8 of it
  double share = 1.0;       ///< of the GPU that a rank may take
};

/// Of a GPU with so much memory, the share that a rank may take.
/// @param target_vram_gb [memory]; 0: no limit of its own
double allowed_share(double memory_fraction, double target_vram_gb, std::int64_t total_bytes);

/// How the batch of a rank should change where so much of the memory is used at the peak.
/// @param used_share peak over total
std::string_view advise_batch(double used_share);
/// After an allocation failed.
std::string_view advise_after_out_of_memory();

/// What a look at the memory asks for.
struct MemoryActions {
  bool clear_cache = false;
  std::vector<std::string> warnings;
};

/// Says each thing once, and again only after it had ceased.
class MemoryWatch {
 public:
  explicit MemoryWatch(MemoryLimits limits) : limits_(limits) {}
  MemoryActions look(const GpuMemory& memory);

 private:
  MemoryLimits limits_;
  bool said_allocated_ = false;
  bool said_peak_ = false;
};

}  // namespace traffic::train
