#include "ppo/presets.h"

namespace traffic::train {

std::vector<config::PresetRow> ppo_presets() {
  return {
      // key, test, normal, max, memory, vram
      {"rollout.workers", {{"2", "6", "8", "3", "3"}}},
      {"rollout.envs_per_worker", {{"1", "2", "2", "1", "1"}}},
      {"rollout.max_concurrent_envs", {{"", "", "16", "3", "2"}}},
      {"memory.target_memory_gb", {{"", "", "", "10", ""}}},
      {"memory.target_vram_gb", {{"", "", "", "", "16"}}},
      {"episodes.train_batch_size", {{"500", "4000", "8000", "2000", "1000"}}},
      {"ppo.minibatch_size", {{"64", "128", "256", "64", "32"}}},
      {"ppo.num_epochs", {{"2", "10", "15", "5", "3"}}},
      {"training.iterations", {{"5", "200", "200", "200", "200"}}},
      {"training.eval_interval", {{"2", "10", "10", "10", "10"}}},
      {"training.eval_episodes", {{"2", "", "", "", ""}}},
      {"episodes.baseline_episodes", {{"8", "", "", "", ""}}},
      {"model.hidden_dim", {{"64", "", "", "", ""}}},
      {"model.gnn_layers", {{"2", "", "", "", ""}}},
      {"model.num_heads", {{"4", "", "", "", ""}}},
      {"model.lstm_hidden", {{"64", "", "", "", ""}}},
      {"model.lstm_layers", {{"1", "", "", "", ""}}},
      {"vehicles.hidden_dim", {{"64", "", "", "", ""}}},
      {"evaluation.seeds", {{"100..103", "", "", "", ""}}},
  };
}

std::vector<config::PresetRow> ppo_constrained_presets() {
  std::vector<config::PresetRow> rows = ppo_presets();
  rows.push_back({"ppo.accumulation_steps", {{"2", "2", "2", "4", "4"}}});
  rows.push_back({"ppo.lr_schedule", {{"cosine", "cosine", "cosine", "cosine", "cosine"}}});
  rows.push_back({"ppo.final_learning_rate", {{"1e-7", "1e-7", "1e-7", "1e-7", "1e-7"}}});
  rows.push_back({"ppo.warmup_iterations", {{"1", "10", "10", "10", "10"}}});
  rows.push_back({"ppo.weight_decay", {{"1e-4", "1e-4", "1e-4", "1e-4", "1e-4"}}});
  return rows;
}

}  // namespace traffic::train
