#include "agents/vehicles_dqn.h"

#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <string>
#include <utility>

#include "dqn/learner.h"
#include "dqn/streams.h"
#include "offpolicy/rank_replay.h"
#include "offpolicy/updates.h"
#include "policy/decider.h"
#include "policy/fit.h"
#include "rollouts/rollouts.h"
#include "run/snapshot_parts.h"
#include "run/together.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// Initial value of the advised command. All other commands have the initial value 0.
constexpr double kAdvantageOfAdvice = 0.02;

/// Replaces the initial logits of the controller by initial values, because with Q-learning its
/// outputs are values. At first, only the advised command has a value other than 0.
Policy& with_first_values(Policy& policy) {
  const torch::NoGradGuard no_grad;
  auto parameters = policy.controller()->named_parameters();
  parameters["longitudinal.bias"].zero_();
  if (auto* advice = parameters.find("advice.weight")) {
    advice->copy_(torch::eye(advice->size(0)) * kAdvantageOfAdvice);
  }
  return policy;
}

/// The vehicles on this rank. Their controller always learns on the CPU.
class VehiclesByDqn final : public Agent {
 public:
  explicit VehiclesByDqn(const AgentContext& context)
      : run_(context.run),
        config_(run_.config()),
        rollouts_(context.rollouts),
        settings_(config_.extension<offpolicy::OffPolicy>()),
        communicator_(run_.communicator().host()),
        perception_(config_, rollouts_.conflicts(), run_.communicator().device()),
        policy_(config_, perception_.widths(), torch::kCPU),
        layout_{.widths = perception_.widths(), .places = policy_.top_k()},
        learner_(config_, with_first_values(policy_), layout_, communicator_),
        streams_(layout_, rollouts_.my_envs(), perception_.conflicts()),
        replay_({.learning = settings_,
                 .seed = static_cast<std::uint64_t>(config_.run.seed),
                 .communicator = communicator_},
                {.count = streams_.num_streams(),
                 .ids = streams_.ids(),
                 .obs_dim = layout_.width(),
                 .action_dim = layout_.places}),
        updates_({.settings = settings_,
                  .communicator = communicator_,
                  .time_split = context.time_split,
                  .learner = learner_,
                  .replay = replay_}) {}

  [[nodiscard]] const Decider* decider() const override { return &decider_; }

  void begin_iteration(const Progress& progress) override {
    policy_.explore(offpolicy::epsilon_after(settings_, progress.control_steps));
  }
  std::optional<Learned> learn(const RolloutBatch& batch, const Progress& progress) override;

  std::string start_from(const checkpoint::Snapshot& snapshot) override;
  void start() override {
    perception_.freeze();
    comm::check_replicas_equal(communicator_, parameters().flat(), "the parameters at the start");
  }
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  void take_best(const checkpoint::Snapshot& snapshot) override { learner_.restore_from(snapshot); }

  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_.networks().parameters();
  }
  /// Without encodings the observations of a few vehicles are so cheap to compute that several
  /// threads would take longer than a single thread.
  [[nodiscard]] bool prefers_one_thread() const override {
    return !InputGroups(config_.vehicles.inputs).any_encoding();
  }
  [[nodiscard]] std::int64_t skipped_steps() const override {
    return learner_.networks().skipped_steps();
  }
  [[nodiscard]] std::int64_t bytes_of_parts() const override { return replay_.bytes_of_parts(); }
  [[nodiscard]] MemoryNeeds memory_needs() const override { return {.host = replay_.bytes()}; }
  void conclude(report::Summary& summary) const override {
    summary.result["updates"] = updates_.count();
  }

 private:
  void keep(const RolloutBatch& batch);

  Run& run_;
  const config::Config& config_;
  Rollouts& rollouts_;
  const offpolicy::OffPolicy settings_;
  comm::Communicator& communicator_;
  Perception perception_;
  Policy policy_;
  Decider decider_{perception_, policy_};
  const dqn::RowLayout layout_;
  dqn::ControllerLearner learner_;
  dqn::FragmentStreams streams_;
  offpolicy::RankReplay replay_;
  offpolicy::Updates updates_;
  std::uint64_t lost_episodes_ = 0;
};

std::string VehiclesByDqn::start_from(const checkpoint::Snapshot& snapshot) {
  if (!snapshot.contains("policy_hash") && has_light_policy(snapshot)) return {};
  if (run_.is_reporter()) warn_of_unknown_settings(snapshot);
  load_perception(snapshot, config_, perception_);
  const config::TrainingFacts& found = training_of(snapshot);
  if (found.name != run_.facts().name) return fmt::format("perception of {}", found.title());
  check_policy_fits(snapshot, config_);
  learner_.restore_from(snapshot);
  return fmt::format("perception, controller, its target and optimiser of {}", found.title());
}

/// Adds the collected steps to the replay, then makes the updates that are due.
std::optional<Learned> VehiclesByDqn::learn(const RolloutBatch& batch, const Progress& progress) {
  keep(batch);
  const double share = static_cast<double>(progress.iteration + 1) /
                       static_cast<double>(config_.training.iterations);
  updates_.after(
      {.env_steps = batch.states, .transitions = replay_.least_transitions(), .progress = share});
  Learned learned{
      .metrics = {{"replay/transitions", static_cast<double>(replay_.all_transitions())},
                  {"train/epsilon",
                   offpolicy::epsilon_after(settings_, progress.control_steps + batch.states)},
                  {"train/learning_rate", updates_.learning_rate(share)},
                  {"train/updates", static_cast<double>(updates_.count())}}};
  for (auto& metric : updates_.take_figures()) learned.metrics.push_back(std::move(metric));
  learned.loss = offpolicy::watched_loss(learned.metrics);
  return learned;
}

/// Adds the collected steps to the replay. If a simulation was lost, its episode has begun again,
/// so the new steps do not continue the steps in the replay.
void VehiclesByDqn::keep(const RolloutBatch& batch) {
  const std::uint64_t lost = rollouts_.counters().lost_episodes;
  if (lost != std::exchange(lost_episodes_, lost)) replay_.begin_anew();
  streams_.for_each(*batch.experience, batch.states / rollouts_.num_envs(),
                    [this](const replay::Step& step) { replay_.push(step); });
}

void VehiclesByDqn::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, perception_.parameters());
  learner_.save_to(snapshot);
  replay_.save_to(snapshot, {});
  updates_.save_to(snapshot);
  snapshot.put_text("model_hash", model_hash_text(config_));
  snapshot.put_text("policy_hash", policy_hash(config_));
}

void VehiclesByDqn::restore_from(const checkpoint::Snapshot& snapshot) {
  check_policy_fits(snapshot, config_);
  load_perception(snapshot, config_, perception_);
  learner_.restore_from(snapshot);
  together(communicator_, [&] { replay_.restore_from(snapshot); });
  updates_.restore_from(snapshot);
  perception_.freeze();
}

}  // namespace

std::unique_ptr<Agent> make_vehicles_by_dqn(const AgentContext& context) {
  return std::make_unique<VehiclesByDqn>(context);
}

std::optional<double> first_advice_margin(const config::Config& config) {
  return config.vehicles.advisor.empty() ? std::nullopt : std::optional(1.0);
}

}  // namespace traffic::train
