#include "dqn/training.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "dqn/learner.h"
#include "dqn/streams.h"
#include "offpolicy/rank_replay.h"
#include "offpolicy/updates.h"
#include "policy/decider.h"
#include "policy/fit.h"
#include "rollouts/handover.h"
#include "rollouts/rollouts.h"
#include "rollouts/units.h"
#include "run/snapshot_parts.h"
#include "run/together.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"

namespace traffic::train::dqn {
namespace {

/// What a command that is advised is taken to be worth more than others before anything is learned.
constexpr double kAdvantageOfAdvice = 0.02;

/// Many times what commands turn out to differ by, in any objective (a reward is a gain in %);
/// where nobody is advised there is none.
std::optional<double> first_margin(const std::string& advisor) {
  return advisor.empty() ? std::nullopt : std::optional(1.0);
}

/// Commands are values now: nobody is told anything but what is advised before there is a reason
/// to.
Policy& with_first_values(Policy& policy) {
  const torch::NoGradGuard no_grad;
  auto parameters = policy.controller()->named_parameters();
  parameters["longitudinal.bias"].zero_();
  if (auto* advice = parameters.find("advice.weight")) {
    advice->copy_(torch::eye(advice->size(0)) * kAdvantageOfAdvice);
  }
  return policy;
}

/// On this rank: everything that lives as long as the training. The controller learns on the CPU.
class DqnTraining final : public Training {
 public:
  explicit DqnTraining(Run& run)
      : run_(run),
        config_(run.config()),
        settings_(config_.extension<offpolicy::OffPolicy>()),
        communicator_(run.communicator()),
        rollouts_(config_, run.session(), communicator_, time_split_),
        perception_(config_, rollouts_.conflicts(), communicator_.device()),
        policy_(config_, perception_.widths(), torch::kCPU),
        layout_{.widths = perception_.widths(), .places = policy_.top_k()},
        learner_(config_, with_first_values(policy_), layout_, communicator_.host()),
        streams_(layout_, rollouts_.my_envs(), perception_.conflicts()),
        replay_({.learning = settings_,
                 .seed = static_cast<std::uint64_t>(config_.run.seed),
                 .communicator = communicator_.host()},
                {.count = streams_.num_streams(),
                 .ids = streams_.ids(),
                 .obs_dim = layout_.width(),
                 .action_dim = layout_.places}),
        updates_({.settings = settings_,
                  .communicator = communicator_.host(),
                  .time_split = time_split_,
                  .learner = learner_,
                  .replay = replay_}),
        handover_(config_, {.selection = rollouts_.selection(), .handover = rollouts_.handover()},
                  {.name = "dqn",
                   .only = Decides::kGreedy,
                   .advice_margin = first_margin(config_.vehicles.advisor)}) {
    // Threads take longer to share what is seen of a few vehicles than one of them to compute it.
    if (!InputGroups(config_.vehicles.inputs).any_encoding()) torch::set_num_threads(1);
  }

  [[nodiscard]] TrainingUnits units() const override { return units_of_rollouts(); }
  [[nodiscard]] std::int64_t step() const override { return iteration_; }
  [[nodiscard]] std::int64_t total_steps() const override { return config_.training.iterations; }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_.networks().parameters();
  }

  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  [[nodiscard]] std::int64_t bytes_of_parts() const override { return replay_.bytes_of_parts(); }
  [[nodiscard]] MemoryNeeds memory_needs() const override { return {.host = replay_.bytes()}; }
  std::optional<Iteration> iterate() override;
  [[nodiscard]] bool start_is_candidate() const override {
    return !config_.vehicles.advisor.empty();
  }
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override;
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override;
  void close() override { rollouts_.close(); }

 private:
  void take_weights(const checkpoint::Snapshot& snapshot);
  void begin_log();
  void keep(const RolloutBatch& batch);
  void learn(std::int64_t control_steps);
  report::NamedValues figures_of(const RolloutBatch& batch);

  Run& run_;
  const config::Config& config_;
  const offpolicy::OffPolicy settings_;
  comm::Communicator& communicator_;
  Rollouts rollouts_;
  Perception perception_;
  Policy policy_;
  Decider decider_{perception_, policy_};
  const RowLayout layout_;
  ControllerLearner learner_;
  FragmentStreams streams_;
  offpolicy::RankReplay replay_;
  offpolicy::Updates updates_;
  std::optional<EpisodeLog> episodes_;  ///< of the reporter
  std::int64_t iteration_ = 0;
  std::int64_t control_steps_ = 0;  ///< of all ranks
  std::uint64_t lost_episodes_ = 0;
  std::int64_t best_iteration_ = 0;  ///< after which the best policy stood
  Handover handover_;
};

/// With the weights of another run, as far as that has them.
void DqnTraining::start() {
  const std::string& path = config_.run.init_from;
  if (!path.empty()) take_weights(checkpoint::load(path));
  perception_.freeze();
  comm::check_replicas_equal(communicator_.host(), parameters().flat(),
                             "the parameters at the start");
  begin_log();
}

void DqnTraining::take_weights(const checkpoint::Snapshot& snapshot) {
  if (run_.is_reporter()) warn_of_unknown_settings(snapshot);
  load_perception(snapshot, config_, perception_);
  const bool is_one_of_these = training_of(snapshot).name == run_.facts().name;
  if (is_one_of_these) {
    check_policy_fits(snapshot, config_);
    learner_.restore_from(snapshot);
    handover_.take_best(snapshot);
  }
  spdlog::info("starting from {}, of {}: {}", snapshot.source(), training_of(snapshot).title(),
               is_one_of_these ? "perception, controller, its target and optimiser" : "perception");
}

void DqnTraining::begin_log() {
  const std::vector<EpisodeOutcome>& uncontrolled = rollouts_.selection().uncontrolled();
  if (!run_.is_reporter()) return;
  episodes_.emplace(run_.dir() / "episodes.csv",
                    iteration_ > 0 ? std::optional(iteration_) : std::nullopt);
  if (iteration_ == 0) episodes_->write(0, "none", uncontrolled);
}

/// Collect, push, then the updates that are due. What is given up half-way, because a stop is
/// requested, is given up whole.
std::optional<Iteration> DqnTraining::iterate() {
  policy_.explore(offpolicy::epsilon_after(settings_, control_steps_));
  policy_.lean_on_advice(handover_.advice_margin());
  const auto batch = rollouts_.collect({.iteration = iteration_, .decider = decider_});
  if (!batch) return std::nullopt;
  keep(*batch);
  ++iteration_;
  control_steps_ += batch->states;
  learn(batch->states);
  report::NamedValues figures = figures_of(*batch);
  report::NamedValues shown;
  for (const auto& [name, value] : figures) {
    if (name == "rollout/gain_of_means") shown.emplace_back("gain", value);
  }
  const auto loss = offpolicy::watched_loss(figures);
  if (loss) shown.emplace_back("loss", loss->value);
  return Iteration{.items = batch->env_steps,
                   .loss = loss,
                   .evaluation_due = iteration_ % config_.training.eval_interval == 0,
                   .metrics = std::move(figures),
                   .shown = std::move(shown)};
}

/// An episode that was begun anew because its simulation was lost does not follow on what is there.
void DqnTraining::keep(const RolloutBatch& batch) {
  const std::uint64_t lost = rollouts_.counters().lost_episodes;
  if (lost != std::exchange(lost_episodes_, lost)) replay_.begin_anew();
  streams_.for_each(batch.experience, batch.states / rollouts_.num_envs(),
                    [this](const replay::Step& step) { replay_.push(step); });
}

void DqnTraining::learn(std::int64_t control_steps) {
  updates_.after(
      {.env_steps = control_steps,
       .transitions = replay_.least_transitions(),
       .progress = static_cast<double>(iteration_) / static_cast<double>(total_steps())});
}

report::NamedValues DqnTraining::figures_of(const RolloutBatch& batch) {
  if (episodes_) episodes_->write(iteration_, "train", batch.outcomes);
  report::NamedValues figures =
      rollout_figures(batch.outcomes, rollouts_.sampled_gain(batch.outcomes));
  const double progress = static_cast<double>(iteration_) / static_cast<double>(total_steps());
  const report::NamedValues more{
      {"replay/transitions", static_cast<double>(replay_.all_transitions())},
      {"train/epsilon", offpolicy::epsilon_after(settings_, control_steps_)},
      {"train/learning_rate", updates_.learning_rate(progress)},
      {"train/updates", static_cast<double>(updates_.count())},
      {"time/total_timesteps", static_cast<double>(control_steps_)}};
  figures.insert(figures.end(), more.begin(), more.end());
  for (auto& figure : updates_.take_figures()) figures.push_back(std::move(figure));
  return figures;
}

std::optional<Assessment> DqnTraining::evaluate() {
  const auto assessed = handover_.assess(decider_, /*imitation_ends=*/false);
  rollouts_.count();
  if (!assessed) return std::nullopt;
  if (episodes_) episodes_->write(iteration_, "eval", assessed->evaluation.controlled);
  return Assessment{.best = assessed->best, .metrics = assessment_figures(*assessed)};
}

void DqnTraining::take_best(const checkpoint::Snapshot& snapshot) {
  learner_.restore_from(snapshot);
  handover_.take_best(snapshot);
  best_iteration_ = snapshot.integer("dqn/iteration");
}

void DqnTraining::conclude(report::Summary& summary) {
  const std::string text = handover_.conclude({.decider = decider_,
                                               .imitated_only = best_iteration_ == 0,
                                               .checkpoint = run_.best_path().string()},
                                              summary);
  rollouts_.count();
  summary.result["total_timesteps"] = control_steps_;
  summary.result["updates"] = updates_.count();
  if (!run_.is_reporter()) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void DqnTraining::count_faults(report::Summary& summary) const {
  const rollout::PoolCounters counters = rollouts_.counters();
  summary.faults["lost_episodes"] = static_cast<std::int64_t>(counters.lost_episodes);
  summary.faults["restarted_environments"] = static_cast<std::int64_t>(counters.restarts);
  summary.faults["skipped_steps"] = learner_.networks().skipped_steps();
}

void DqnTraining::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, perception_.parameters());
  learner_.save_to(snapshot);
  rollouts_.save_to(snapshot);
  replay_.save_to(snapshot, {});
  updates_.save_to(snapshot);
  snapshot.put_int("dqn/iteration", iteration_);
  snapshot.put_int("dqn/control_steps", control_steps_);
  handover_.save_to(snapshot);
  snapshot.put_text("model_hash", model_hash_text(config_));
  snapshot.put_text("policy_hash", policy_hash(config_));
}

void DqnTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  check_policy_fits(snapshot, config_);
  load_perception(snapshot, config_, perception_);
  learner_.restore_from(snapshot);
  rollouts_.restore_from(snapshot);
  together(communicator_, [&] { replay_.restore_from(snapshot); });
  updates_.restore_from(snapshot);
  iteration_ = snapshot.integer("dqn/iteration");
  control_steps_ = snapshot.integer("dqn/control_steps");
  handover_.restore_from(snapshot);
  perception_.freeze();
  begin_log();
}

}  // namespace

std::unique_ptr<Training> make_dqn_training(Run& run) { return std::make_unique<DqnTraining>(run); }

}  // namespace traffic::train::dqn
