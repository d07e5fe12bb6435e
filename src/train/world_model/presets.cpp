#include "world_model/presets.h"

namespace traffic::train {

std::vector<config::PresetRow> world_model_presets() {
  return {
      // key, test, normal, max, memory, vram
      {"data.batch_size", {{"8", "32", "48", "16", "12"}}},
      {"data.num_workers", {{"1", "4", "6", "2", "2"}}},
      {"data.prefetch_factor", {{"1", "2", "4", "1", "1"}}},
      {"data.persistent_workers", {{"", "", "", "false", ""}}},
      {"data.pin_memory", {{"", "", "", "false", ""}}},
      {"data.shuffle_chunks", {{"", "", "", "3", ""}}},
      {"data.cache_mb", {{"", "", "", "96", ""}}},
      {"train.accumulation_steps", {{"1", "1", "1", "1", "1"}}},
      {"train.gradient_checkpointing", {{"", "", "", "true", "true"}}},
      {"loss_scale.initial", {{"", "65536", "65536", "32768", "16384"}}},
      {"loss_scale.growth_interval", {{"", "2000", "2000", "1000", "500"}}},
      {"memory.target_memory_gb", {{"", "", "", "10", ""}}},
      {"memory.target_vram_gb", {{"", "", "", "", "16"}}},
      {"gpu.empty_cache_epochs", {{"1", "1", "5", "1", "1"}}},
      {"train.epochs", {{"2", "50", "50", "50", "50"}}},
      {"train.warmup_epochs", {{"0.5", "", "", "", ""}}},
      {"checkpoint.save_interval_epochs", {{"1", "5", "5", "5", "5"}}},
      {"comm.bucket_cap_mb", {{"", "", "50", "", ""}}},
      {"model.hidden_dim", {{"64", "", "", "", ""}}},
      {"model.gnn_layers", {{"2", "", "", "", ""}}},
      {"model.num_heads", {{"4", "", "", "", ""}}},
      {"model.lstm_hidden", {{"64", "", "", "", ""}}},
      {"model.lstm_layers", {{"1", "", "", "", ""}}},
  };
}

}  // namespace traffic::train
