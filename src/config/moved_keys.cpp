// The table of keys that were renamed (moved_keys.h).
#include "moved_keys.h"

#include <array>

#include "traffic/config/schema.h"

namespace traffic::config {
namespace {

/// A renamed key. If new_name ends with a dot, all keys that begin with old_name were renamed.
struct Move {
  std::string_view old_name;
  std::string_view new_name;
};

constexpr std::array<Move, 35> kMoves{{
    {"ppo.iterations", "training.iterations"},
    {"ppo.eval_interval", "training.eval_interval"},
    {"ppo.eval_episodes", "training.eval_episodes"},
    {"ppo.handover_episodes", "training.final_episodes"},
    {"ppo.decide", "training.decide"},
    {"ppo.max_rollbacks", "training.max_rollbacks"},
    {"ppo.rollback_factor", "training.rollback_factor"},
    {"ppo.episode_s", "episodes.length_s"},
    {"ppo.rollout_fragment_length", "episodes.rollout_fragment_length"},
    {"ppo.train_batch_size", "episodes.train_batch_size"},
    {"ppo.demand_curriculum", "episodes.demand_curriculum"},
    {"ppo.credit", "episodes.credit"},
    {"ppo.reward_scale", "episodes.reward_scale"},
    {"ppo.intervention_cost", "episodes.intervention_cost"},
    {"ppo.hard_brake_cost", "episodes.hard_brake_cost"},
    {"ppo.baseline_episodes", "episodes.baseline_episodes"},
    {"ppo.baseline_cache", "episodes.baseline_cache"},
    {"ppo.imitation_", "imitation."},
    {"ppo.dagger_share", "imitation.dagger_share"},
    {"ppo.prior_coef", "imitation.prior_coef"},
    {"action.", "vehicles."},
    {"controller.", "vehicles."},
    {"signals.episodes", "episodes.train_batch_size"},
    {"signals.demand", "episodes.demand"},
    {"signals.learner", "run.phase"},
    {"signals.", "lights."},
    {"joint_lights.", "lights.ppo."},
    {"env.actors", "env.agents"},
    {"lights.ppo.lr_schedule", "ppo.lr_schedule"},
    {"lights.ppo.warmup_iterations", "ppo.warmup_iterations"},
    {"lights.ppo.weight_decay", "ppo.weight_decay"},
    {"lights.ppo.clip_range", "ppo.clip_range"},
    {"lights.ppo.vf_clip_range", "ppo.vf_clip_range"},
    {"lights.ppo.vf_coef", "ppo.vf_coef"},
    {"lights.ppo.clip_norm", "ppo.clip_norm"},
}};

std::string_view without_point(std::string_view table) { return table.substr(0, table.size() - 1); }

}  // namespace

std::string new_name_of(std::string_view key) {
  for (const auto& [old_name, new_name] : kMoves) {
    if (key == old_name) return std::string(new_name);
    if (!new_name.ends_with('.')) continue;
    if (old_name.ends_with('.') && key == without_point(old_name)) {
      return std::string(without_point(new_name));
    }
    if (!key.starts_with(old_name)) continue;
    std::string moved(new_name);
    moved += key.substr(old_name.size());
    if (find_row(moved) != nullptr) return moved;
  }
  return {};
}

}  // namespace traffic::config
