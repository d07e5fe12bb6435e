#include "agents/vehicles_ppo.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <string>
#include <utility>

#include "policy/decider.h"
#include "policy/fit.h"
#include "policy/light_policy.h"
#include "ppo/constraint.h"
#include "ppo/learner.h"
#include "ppo/learner_device.h"
#include "ppo/prior.h"
#include "rollouts/rollouts.h"
#include "run/snapshot_parts.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

report::NamedValues update_metrics(const UpdateResult& result) {
  const rl::PpoStatistics& s = result.statistics;
  return {{"train/policy_gradient_loss", s.policy_loss},
          {"train/value_loss", s.value_loss},
          {"train/entropy_loss", -s.entropy},
          {"train/selection_entropy", s.selection_entropy},
          {"train/approx_kl", s.approx_kl},
          {"train/clip_fraction", s.clip_fraction},
          {"train/explained_variance", result.explained_variance},
          {"train/explained_variance_fitted", s.explained_variance},
          {"train/learning_rate", result.learning_rate},
          {"train/ent_coef", result.ent_coef},
          {"train/grad_norm", result.grad_norm},
          {"train/mean_return", result.mean_return},
          {"train/imitation_loss", result.imitation_loss},
          {"train/imitation_agreement", result.imitation_agreement},
          {"train/prior_coef", result.prior_coef},
          {"train/prior_kl", result.prior_kl},
          {"train/epochs", static_cast<double>(result.epochs)},
          {"train/n_updates", static_cast<double>(result.steps)},
          {"train/decisions", s.decisions},
          {"train/selections", s.selections}};
}

/// The agent of vehicles that learns by PPO, first by imitating a script if imitation.iterations is
/// above 0. In phase 3, a constraint also limits the cost of unsafe behaviour.
class VehiclesByPpo final : public Agent {
 public:
  VehiclesByPpo(const AgentContext& context, bool constrained)
      : run_(context.run),
        config_(run_.config()),
        conflicts_(context.rollouts.conflicts()),
        perception_(config_, conflicts_, run_.communicator().device()),
        communicator_(learner_communicator(config_, perception_.widths(), run_.communicator())),
        policy_(config_, perception_.widths(), communicator_.device()),
        constraint_(constrained
                        ? std::make_unique<Constraint>(config_, perception_.widths().conflict,
                                                       conflicts_, communicator_)
                        : nullptr),
        prior_(config_, perception_.widths(), communicator_.device()),
        learner_(config_, policy_, communicator_, conflicts_,
                 {.constraint = constraint_.get(), .prior = &prior_}),
        imitation_end_(config_.imitation.iterations) {}

  [[nodiscard]] const Decider* decider() const override { return &decider_; }
  [[nodiscard]] std::int64_t imitation_end() const override { return imitation_end_; }
  std::optional<Learned> learn(const RolloutBatch& batch, const Progress& progress) override;
  void log_evaluation(const SelectionEvaluation& evaluation, std::int64_t iteration) const override;
  void set_step_factor(double factor) override { learner_.set_step_factor(factor); }

  std::string start_from(const checkpoint::Snapshot& snapshot) override;
  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  void take_best(const checkpoint::Snapshot& snapshot) override { learner_.restore_from(snapshot); }
  void save_learner(checkpoint::Snapshot& snapshot) const override { learner_.save_to(snapshot); }
  void restore_learner(const checkpoint::Snapshot& snapshot) override {
    learner_.restore_from(snapshot);
  }

  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_.parameters();
  }
  [[nodiscard]] std::int64_t skipped_steps() const override {
    return learner_.skipped_steps() + (constraint_ ? constraint_->skipped_steps() : 0);
  }
  [[nodiscard]] MemoryNeeds memory_needs() const override;
  void conclude(report::Summary& summary) const override {
    if (constraint_) summary.result["lagrange_multiplier"] = constraint_->multiplier();
  }

 private:
  [[nodiscard]] bool imitates(std::int64_t iteration) const { return iteration < imitation_end_; }
  void remember_features(const checkpoint::Snapshot& snapshot);
  void end_imitation(const UpdateResult& update, std::int64_t iteration);
  [[nodiscard]] report::NamedValues metrics_of(const RolloutBatch& batch,
                                               const UpdateResult& update) const;

  Run& run_;
  const config::Config& config_;
  std::int64_t conflicts_;
  Perception perception_;
  comm::Communicator& communicator_;  ///< its device is the device on which the policy learns
  Policy policy_;
  Decider decider_{perception_, policy_};
  std::unique_ptr<Constraint> constraint_;  ///< limit on the cost; null in phase 2
  Prior prior_;
  Learner learner_;
  std::int64_t imitation_end_;  ///< first iteration of PPO
  std::string features_;  ///< features that the world model was trained with; empty if unknown
};

/// Estimates the memory for learning. The estimate allows for four copies of an iteration's
/// experience, such as the collected steps, the packed tensors, and the rows of a minibatch.
MemoryNeeds VehiclesByPpo::memory_needs() const {
  constexpr std::int64_t kCandidates = 10;  // rough number of candidates in a state
  constexpr std::int64_t kCopies = 4;
  constexpr std::int64_t kWithAdam = 3;
  const auto& widths = perception_.widths();
  const std::int64_t states = config_.episodes.train_batch_size / run_.communicator().size();
  const std::int64_t values =
      kCandidates * widths.own + widths.shared + conflicts_ * widths.conflict;
  const std::int64_t parameters = learner_.parameters().flat().numel();
  return {.host = static_cast<std::int64_t>(sizeof(float)) *
                  (kCopies * states * values + kWithAdam * parameters)};
}

void VehiclesByPpo::start() {
  if (config_.run.init_from.empty() && constraint_) {
    spdlog::warn("run.init_from is empty, so {} starts with an untrained controller",
                 run_.facts().title());
  }
  perception_.freeze();
}

/// Loads what the checkpoint contains. A checkpoint of a world model contains only the weights of
/// the perception (encoder and world model), and no controller.
std::string VehiclesByPpo::start_from(const checkpoint::Snapshot& snapshot) {
  const bool has_controller = snapshot.contains("policy_hash");
  if (!has_controller && has_light_policy(snapshot)) {
    if (constraint_ && run_.is_reporter()) {
      spdlog::warn(
          "checkpoint {} holds no controller of vehicles, so {} starts with an untrained one",
          snapshot.source(), run_.facts().title());
    }
    return {};
  }
  remember_features(snapshot);
  if (run_.is_reporter()) warn_of_unknown_settings(snapshot);
  load_perception(snapshot, config_, perception_);
  if (has_controller) {
    check_policy_fits(snapshot, config_);
    learner_.start_from(snapshot);
  } else if (constraint_) {
    throw CheckpointError(
        "checkpoint {} holds no controller of vehicles, but {} continues to train one; set "
        "run.init_from to a checkpoint of phase 2",
        snapshot.source(), run_.facts().title());
  }
  return fmt::format("{} of {}", has_controller ? "perception and controller" : "perception",
                     training_of(snapshot).title());
}

/// Older checkpoints of a world model do not name the features that it was trained with.
void VehiclesByPpo::remember_features(const checkpoint::Snapshot& snapshot) {
  features_ = snapshot.contains("features") ? snapshot.text("features") : "";
}

void VehiclesByPpo::restore_from(const checkpoint::Snapshot& snapshot) {
  check_policy_fits(snapshot, config_);
  load_perception(snapshot, config_, perception_);
  remember_features(snapshot);
  learner_.restore_from(snapshot);
  if (constraint_) constraint_->restore_from(snapshot);
  imitation_end_ = snapshot.integer("imitation/end");
  prior_.restore_from(snapshot);
  perception_.freeze();
}

void VehiclesByPpo::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, perception_.parameters());
  learner_.save_to(snapshot);
  if (constraint_) constraint_->save_to(snapshot);
  snapshot.put_int("imitation/end", imitation_end_);
  prior_.save_to(snapshot);
  snapshot.put_text("model_hash", model_hash_text(config_));
  snapshot.put_text("policy_hash", policy_hash(config_));
  if (!features_.empty()) snapshot.put_text("features", features_);
}

std::optional<Learned> VehiclesByPpo::learn(const RolloutBatch& batch, const Progress& progress) {
  const std::int64_t iteration = progress.iteration;
  const bool imitates = this->imitates(iteration);
  // The multiplier is updated with the cost of the policy that acted. With fragments of episodes
  // (episodes.rollout_fragment_length), there may be iterations in which no episode ends. The cost
  // is then unknown, and the multiplier stays the same.
  if (constraint_ && !imitates && !batch.outcomes.empty()) {
    constraint_->observe(mean_cost(batch.outcomes));
  }
  const auto update =
      imitates ? learner_.imitate(*batch.experience, batch.states, iteration)
               : learner_.update(*batch.experience, batch.states, iteration, imitation_end_);
  if (!update) return std::nullopt;
  if (imitates) end_imitation(*update, iteration + 1);
  return Learned{.metrics = metrics_of(batch, *update),
                 .loss = imitates
                             ? WatchedLoss{.value = update->imitation_loss, .stage = 0}
                             : WatchedLoss{.value = update->statistics.value_loss, .stage = 1}};
}

report::NamedValues VehiclesByPpo::metrics_of(const RolloutBatch& batch,
                                              const UpdateResult& update) const {
  report::NamedValues values = update_metrics(update);
  const auto mix = config::scenario_mix(config_.env);
  for (std::size_t s = 0; s < update.imitation_agreements.size(); ++s) {
    values.emplace_back("train/imitation_agreement_" + config::scenario_name(mix[s].scenario),
                        update.imitation_agreements[s]);
  }
  if (constraint_) {
    if (!batch.outcomes.empty()) {
      values.emplace_back("Metrics/EpCost", mean_cost(batch.outcomes));
    }
    values.emplace_back("Metrics/CostLimit", config_.lagrange.cost_limit);
    values.emplace_back("Metrics/LagrangeMultiplier", constraint_->multiplier());
    values.emplace_back("train/cost_value_loss", constraint_->critic_loss());
  }
  return values;
}

/// Ends imitation early if the policy agrees with the script. When imitation has ended, stores the
/// policy as the prior of PPO.
/// @param iteration the next iteration
void VehiclesByPpo::end_imitation(const UpdateResult& update, std::int64_t iteration) {
  const double wanted = config_.imitation.agreement;
  if (wanted > 0.0 && update.imitation_agreement >= wanted && imitates(iteration)) {
    imitation_end_ = iteration;
    spdlog::info(
        "iteration {}: imitation ends early and PPO begins, because the policy agrees with the "
        "script (F1 score {:.3f}, imitation.agreement {})",
        iteration, update.imitation_agreement, wanted);
  }
  if (!imitates(iteration)) prior_.set(policy_, iteration);
}

void VehiclesByPpo::log_evaluation(const SelectionEvaluation& evaluation,
                                   std::int64_t iteration) const {
  if (!constraint_) return;
  spdlog::info(
      "iteration {}: cost of a control step {:.3f}, limit {:.3f}, Lagrange multiplier {:.2f}",
      iteration, mean_cost(evaluation.controlled), config_.lagrange.cost_limit,
      constraint_->multiplier());
}

}  // namespace

std::unique_ptr<Agent> make_vehicles_by_ppo(const AgentContext& context, bool constrained) {
  return std::make_unique<VehiclesByPpo>(context, constrained);
}

}  // namespace traffic::train
