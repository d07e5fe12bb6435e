#include "traffic/config/presets.h"

#include <algorithm>
#include <array>

#include "traffic/core/error.h"

namespace traffic::config {
namespace {

constexpr std::array<std::string_view, 5> kNames{"test", "normal", "max", "memory", "vram"};

constexpr std::array<std::string_view, kNames.size()> kHelp{
    "Shows in minutes that a configuration works: small model, two epochs.",
    "Steady and reasonably fast.",
    "Takes all that the machine has: large batches, more readers, larger buckets.",
    "For little main memory: smaller batches, few readers, a small cache.",
    "For little GPU memory: small batches, layers computed again in the backward pass.",
};

/// What a key is set to by each preset, in the order of kNames; empty: the preset leaves the key
/// alone.
struct PresetRow {
  std::int64_t phase;  ///< what holds in phase 2 holds in phase 3, too
  std::string_view key;
  std::array<std::string_view, kNames.size()> values;
};

constexpr std::array kRows{
    //                                        test   normal max    memory vram
    PresetRow{1, "data.batch_size", {"8", "32", "48", "16", "12"}},
    PresetRow{1, "data.num_workers", {"1", "4", "6", "2", "2"}},
    PresetRow{1, "data.prefetch_factor", {"1", "2", "4", "1", "1"}},
    PresetRow{1, "data.cache_mb", {"", "", "", "64", ""}},
    PresetRow{1, "train.accumulation_steps", {"1", "1", "1", "1", "1"}},
    PresetRow{1, "train.gradient_checkpointing", {"", "", "", "true", "true"}},
    PresetRow{1, "loss_scale.initial", {"", "65536", "65536", "32768", "16384"}},
    PresetRow{1, "loss_scale.growth_interval", {"", "2000", "2000", "1000", "500"}},
    PresetRow{1, "gpu.empty_cache_epochs", {"1", "1", "5", "1", "1"}},
    PresetRow{1, "train.epochs", {"2", "50", "50", "50", "50"}},
    PresetRow{1, "train.warmup_epochs", {"0.5", "", "", "", ""}},
    PresetRow{1, "checkpoint.save_interval_epochs", {"1", "5", "5", "5", "5"}},
    PresetRow{1, "comm.bucket_cap_mb", {"", "", "50", "", ""}},
    PresetRow{1, "model.hidden_dim", {"64", "", "", "", ""}},
    PresetRow{1, "model.gnn_layers", {"2", "", "", "", ""}},
    PresetRow{1, "model.num_heads", {"4", "", "", "", ""}},
    PresetRow{1, "model.lstm_hidden", {"64", "", "", "", ""}},
    PresetRow{1, "model.lstm_layers", {"1", "", "", "", ""}},
    PresetRow{2, "rollout.workers", {"2", "6", "8", "3", "3"}},
    PresetRow{2, "rollout.envs_per_worker", {"1", "2", "2", "1", "1"}},
    PresetRow{2, "rollout.max_concurrent_envs", {"", "", "16", "3", "2"}},
    PresetRow{2, "ppo.train_batch_size", {"500", "4000", "8000", "2000", "1000"}},
    PresetRow{2, "ppo.minibatch_size", {"64", "128", "256", "64", "32"}},
    PresetRow{2, "ppo.num_epochs", {"2", "10", "15", "5", "3"}},
    PresetRow{2, "ppo.iterations", {"5", "200", "200", "200", "200"}},
    PresetRow{2, "ppo.eval_interval", {"2", "10", "10", "10", "10"}},
    PresetRow{2, "ppo.eval_episodes", {"2", "", "", "", ""}},
    PresetRow{2, "ppo.baseline_episodes", {"8", "", "", "", ""}},
    PresetRow{2, "model.hidden_dim", {"64", "", "", "", ""}},
    PresetRow{2, "model.gnn_layers", {"2", "", "", "", ""}},
    PresetRow{2, "model.num_heads", {"4", "", "", "", ""}},
    PresetRow{2, "model.lstm_hidden", {"64", "", "", "", ""}},
    PresetRow{2, "model.lstm_layers", {"1", "", "", "", ""}},
    PresetRow{2, "controller.hidden_dim", {"64", "", "", "", ""}},
    PresetRow{2, "evaluation.seeds", {"100..103", "", "", "", ""}},
    PresetRow{3, "ppo.accumulation_steps", {"2", "2", "2", "4", "4"}},
};

std::size_t index_of(std::string_view preset) {
  const auto found = std::find(kNames.begin(), kNames.end(), preset);
  TRAFFIC_CHECK(found != kNames.end(), "no preset '{}'", preset);
  return static_cast<std::size_t>(found - kNames.begin());
}

}  // namespace

std::span<const std::string_view> preset_names() { return kNames; }

std::string_view preset_help(std::string_view preset) { return kHelp.at(index_of(preset)); }

std::vector<PresetValue> preset_values(std::string_view preset, std::int64_t phase) {
  const std::size_t index = index_of(preset);
  std::vector<PresetValue> values;
  for (const PresetRow& row : kRows) {
    const std::string_view value = row.values.at(index);
    const bool applies = row.phase == phase || (row.phase == 2 && phase == 3);
    if (applies && !value.empty()) values.push_back({row.key, value});
  }
  return values;
}

}  // namespace traffic::config
