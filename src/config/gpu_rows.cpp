/// The schema of the configuration has a row for each key (schema.h). This file has the rows of the
/// tables [loss_scale], [gpu] and [memory].
#include "rows.h"

namespace traffic::config {

std::vector<Row> loss_scale_rows() {
  return {
      {TRAFFIC_KEY(loss_scale.strategy),
       .help = "`dynamic` looks for the largest scale that does not overflow, `static` keeps "
               "`loss_scale.fixed`.",
       .choices = {"dynamic", "static"}},
      {TRAFFIC_KEY(loss_scale.initial), .help = "First factor of the loss with dynamic scaling.",
       .range = above(0, 1e30)},
      {TRAFFIC_KEY(loss_scale.growth_factor),
       .help = "Multiplier of the factor after `growth_interval` updates in a row without "
               "an overflow.",
       .range = between(1, 1000)},
      {TRAFFIC_KEY(loss_scale.backoff_factor),
       .help = "Multiplier of the factor after `hysteresis` overflows in a row, and after "
               "each further one.",
       .range = {.low = 0, .high = 1, .low_open = true, .high_open = true}},
      {TRAFFIC_KEY(loss_scale.growth_interval),
       .help = "Updates in a row without an overflow before the factor grows.", .unit = "steps",
       .range = between(1, 1e9)},
      {TRAFFIC_KEY(loss_scale.hysteresis),
       .help =
           "Overflows in a row before the factor is lowered. An update that overflows is left out.",
       .unit = "steps", .range = between(1, 1000)},
      {TRAFFIC_KEY(loss_scale.min), .help = "Smallest factor of dynamic scaling.",
       .range = above(0, 1e30)},
      {TRAFFIC_KEY(loss_scale.max), .help = "Largest factor of dynamic scaling.",
       .range = above(0, 1e30)},
      {TRAFFIC_KEY(loss_scale.fixed), .help = "The factor of static scaling.",
       .range = above(0, 1e30)},
  };
}

std::vector<Row> gpu_rows() {
  return {
      {TRAFFIC_KEY(gpu.memory_fraction),
       .help =
           "Share of a GPU's memory that the rank on it may take. A rank that needs more fails.",
       .range = {.low = 0, .high = 1, .low_open = true}},
      {TRAFFIC_KEY(gpu.allocated_limit_gb),
       .help =
           "Memory in use above which the log advises a smaller batch. 0 means 5/6 of the memory "
           "that a rank may take.",
       .unit = "GiB", .range = between(0, 1e6)},
      {TRAFFIC_KEY(gpu.reserved_limit_gb),
       .help =
           "If the memory in use and the cached memory together exceed this, the cache is cleared. "
           "If the peak of the memory in use exceeds it, the log advises gradient checkpointing. "
           "0 means 7/8 of the memory that a rank may take.",
       .unit = "GiB", .range = between(0, 1e6)},
      {TRAFFIC_KEY(gpu.empty_cache_epochs),
       .help = "Epochs after which cached memory is given back to the GPU; 0 means never.",
       .unit = "epochs", .range = between(0, 1e6)},
      {TRAFFIC_KEY(gpu.allow_tf32),
       .help = "Whether float32 products may be computed in TF32, where the GPU can (Ampere and "
               "later): faster, with 10 bits of mantissa."},
  };
}

std::vector<Row> memory_rows() {
  return {
      {TRAFFIC_KEY(memory.target_memory_gb),
       .help =
           "Main memory that ranks, workers and simulations of a node should use together at "
           "most. `data.batch_size = 0` chooses a batch that fits. Before a run that is likely to "
           "need more, the log warns. If a run takes more, it returns idle memory to the system, "
           "and the log warns. 0 means the memory of the node.",
       .unit = "GiB", .range = between(0, 1e6)},
      {TRAFFIC_KEY(memory.target_vram_gb),
       .help =
           "Memory of a GPU that the rank on it may take. If `gpu.memory_fraction` allows less, "
           "that limit applies. 0 means the memory of the GPU.",
       .unit = "GiB", .range = between(0, 1e6)},
  };
}

}  // namespace traffic::config
