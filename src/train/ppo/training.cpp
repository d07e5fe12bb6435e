#include "ppo/training.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <string>
#include <utility>

#include "policy/decider.h"
#include "policy/fit.h"
#include "policy/starting_weights.h"
#include "ppo/learner.h"
#include "ppo/learner_device.h"
#include "ppo/log.h"
#include "ppo/network_check.h"
#include "ppo/presets.h"
#include "rollouts/outcomes.h"
#include "rollouts/rollouts.h"
#include "run/selection.h"
#include "run/snapshot_parts.h"
#include "search/prepare.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// On this rank: everything that lives as long as the training.
class PpoTraining final : public Training {
 public:
  /// @param constrained whether cost is kept under lagrange.cost_limit
  PpoTraining(Run& run, bool constrained)
      : run_(run),
        config_(run.config()),
        communicator_(run.communicator()),
        rollouts_(config_, run.session(), communicator_, time_split_),
        perception_(config_, rollouts_.conflicts(), communicator_.device()),
        learner_communicator_(learner_communicator(config_, perception_.widths(), communicator_)),
        policy_(config_, perception_.widths(), learner_communicator_.device()),
        constraint_(constrained
                        ? std::make_unique<Constraint>(config_, perception_.widths().conflict,
                                                       rollouts_.conflicts(), learner_communicator_)
                        : nullptr),
        learner_(config_, policy_, learner_communicator_, rollouts_.conflicts(), constraint_.get()),
        log_(run, {rollouts_, constraint_.get()}) {}

  [[nodiscard]] TrainingUnits units() const override {
    return {.step = "iteration",
            .items = "env steps",
            .rate = "env_steps_per_s",
            .duration = "iteration_s",
            .long_steps = true};
  }
  [[nodiscard]] std::int64_t step() const override { return iteration_; }
  [[nodiscard]] std::int64_t total_steps() const override { return config_.ppo.iterations; }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_.parameters();
  }

  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  std::optional<Iteration> iterate() override;
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override { learner_.restore_from(snapshot); }
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override;
  void close() override { rollouts_.close(); }

 private:
  void take_weights(const checkpoint::Snapshot& snapshot);
  [[nodiscard]] double excess_of(const GreedyEvaluation& evaluation) const;

  Run& run_;
  const config::Config& config_;
  comm::Communicator& communicator_;
  Rollouts rollouts_;
  Perception perception_;
  comm::Communicator& learner_communicator_;
  Policy policy_;
  Decider decider_{perception_, policy_};
  std::unique_ptr<Constraint> constraint_;  ///< null without one
  Learner learner_;
  ControllerLog log_;
  std::int64_t iteration_ = 0;
  std::int64_t total_steps_ = 0;      ///< control steps of all ranks
  std::int64_t total_env_steps_ = 0;  ///< simulation steps of all ranks in training
  Selection selection_;
};

/// With the weights of another run, as far as that has them.
void PpoTraining::start() {
  const std::string& path = config_.run.init_from;
  if (path.empty()) {
    if (constraint_) {
      spdlog::warn("run.init_from is empty: {} starts with no controller", run_.facts().title());
    }
  } else {
    take_weights(checkpoint::load(path));
  }
  perception_.freeze();
  log_.start(0, rollouts_.uncontrolled());
}

void PpoTraining::take_weights(const checkpoint::Snapshot& snapshot) {
  if (run_.is_reporter()) warn_of_unknown_settings(snapshot);
  load_perception(snapshot, config_, perception_);
  const bool has_controller = snapshot.contains("policy_hash");
  if (has_controller) {
    check_policy_fits(snapshot, config_);
    learner_.start_from(snapshot);
  } else if (constraint_) {
    throw CheckpointError(
        "checkpoint {}: holds no controller, which {} goes on with; give one of ppo",
        snapshot.source(), run_.facts().name);
  }
  spdlog::info("starting from {}, of {}: {}", snapshot.source(), training_of(snapshot).title(),
               has_controller ? "perception and controller" : "perception");
}

void PpoTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  check_policy_fits(snapshot, config_);
  load_perception(snapshot, config_, perception_);
  learner_.restore_from(snapshot);
  if (constraint_) constraint_->restore_from(snapshot);
  rollouts_.restore_from(snapshot);
  iteration_ = snapshot.integer("ppo/iteration");
  total_steps_ = snapshot.integer("ppo/total_steps");
  total_env_steps_ = snapshot.integer("ppo/total_env_steps");
  selection_.restore(snapshot.real("ppo/best_excess"), snapshot.tensor("ppo/best_gains"));
  perception_.freeze();
  log_.start(iteration_, rollouts_.uncontrolled());
}

/// Collect, learn. What either gives up half-way, because a stop is requested, is given up whole.
std::optional<Iteration> PpoTraining::iterate() {
  const bool imitates = rollouts_.imitates(iteration_);
  const auto batch = rollouts_.collect(iteration_, decider_);
  if (!batch) return std::nullopt;
  // The price follows what was done by the policy, at the old one; fragments may have brought no
  // episode to its end.
  if (constraint_ && !imitates && !batch->outcomes.empty()) {
    constraint_->observe(mean_cost(batch->outcomes));
  }
  const auto learning = time_split_.measure(TimeShare::kLearn);
  const auto update = imitates ? learner_.imitate(batch->experience, batch->states, iteration_)
                               : learner_.update(batch->experience, batch->states, iteration_);
  if (!update) return std::nullopt;
  ++iteration_;
  total_steps_ += batch->states;
  total_env_steps_ += batch->env_steps;
  const Iterated done{
      .iteration = iteration_, .batch = *batch, .update = *update, .total_steps = total_steps_};
  report::NamedValues figures = log_.iterated(done);
  report::NamedValues shown = shown_of(figures);
  return Iteration{.items = batch->env_steps,
                   .evaluation_due = iteration_ % config_.ppo.eval_interval == 0,
                   .metrics = std::move(figures),
                   .shown = std::move(shown)};
}

/// By the gain; first of all by whether it is as safe as no control and, with a constraint, keeps
/// the limit.
std::optional<Assessment> PpoTraining::evaluate() {
  const auto evaluation = rollouts_.run_selection(decider_);
  if (!evaluation) return std::nullopt;
  log_.evaluated(iteration_, *evaluation);
  return Assessment{.best = selection_.prefers(excess_of(*evaluation), evaluation->gains),
                    .metrics = evaluation_figures(*evaluation)};
}

double PpoTraining::excess_of(const GreedyEvaluation& evaluation) const {
  const double over = mean_cost(evaluation.controlled) - config_.lagrange.cost_limit;
  return evaluation.safety_excess + (constraint_ ? std::max(0.0, over) : 0.0);
}

void PpoTraining::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, perception_.parameters());
  learner_.save_to(snapshot);
  if (constraint_) constraint_->save_to(snapshot);
  rollouts_.save_to(snapshot);
  snapshot.put_int("ppo/iteration", iteration_);
  snapshot.put_int("ppo/total_steps", total_steps_);
  snapshot.put_int("ppo/total_env_steps", total_env_steps_);
  snapshot.put_int("ppo/conflicts", rollouts_.conflicts());
  snapshot.put_real("ppo/best_excess", selection_.best_excess());
  snapshot.put_tensor("ppo/best_gains", selection_.best_gains());
  snapshot.put_text("model_hash", model_hash_text(config_));
  snapshot.put_text("policy_hash", policy_hash(config_));
}

void PpoTraining::count_faults(report::Summary& summary) const {
  const rollout::PoolCounters counters = rollouts_.counters();
  summary.faults["lost_episodes"] = static_cast<std::int64_t>(counters.lost_episodes);
  summary.faults["restarted_environments"] = static_cast<std::int64_t>(counters.restarts);
  summary.faults["skipped_steps"] =
      learner_.skipped_steps() + (constraint_ ? constraint_->skipped_steps() : 0);
}

void PpoTraining::conclude(report::Summary& summary) {
  const GreedyEvaluation evaluation = rollouts_.run_selection_to_the_end(decider_);
  for (const auto& [name, value] : evaluation_figures(evaluation)) {
    summary.result[name.substr(name.find('/') + 1)] = value;
  }
  summary.result["total_timesteps"] = total_steps_;
  if (constraint_) summary.result["lagrange_multiplier"] = constraint_->multiplier();
  if (!run_.is_reporter()) return;
  const std::string text = fmt::format(
      "best controller on {} selection seeds: gain of ocr_all {:+.2f} +- {:.2f} % (worst {:+.2f} "
      "%); compare it on seeds of your own with traffic_eval --controller checkpoint:{}\n",
      evaluation.gain.count, evaluation.gain.mean, evaluation.gain.half_width,
      evaluation.gain.least, run_.best_path().string());
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

void check_perception(const Run& run) {
  if (run.is_new()) check_starting_weights(run.config());
}

/// Looks at the networks, searches for a script, and looks again at what follows from it.
TrainingEnd look_and_search(const Preparation& preparation) {
  look_at_networks_together(preparation.config, preparation.communicator);
  const TrainingEnd end = search_and_decide(preparation);
  if (end == TrainingEnd::kDone) {
    look_at_networks_together(preparation.config, preparation.communicator);
  }
  return end;
}

/// What both have in common.
config::TrainingFacts ppo_facts() {
  return {.name = "ppo",
          .number = "2",
          .folder = "phase2",
          .help = "the controller, in simulations",
          .product = "Controller",
          .about =
              "A controller of connected vehicles: it picks some of them and gives each a "
              "command that lasts for a while, so that more traffic gets through.",
          .starts_from = {"world_model"},
          .simulates = true,
          .sections = {"env", "rollout", "action", "controller", "ppo", "search"},
          .presets = ppo_presets()};
}

}  // namespace

TrainingRow ppo_training() {
  return {.facts = ppo_facts(),
          .make = [](Run& run) -> std::unique_ptr<Training> {
            return std::make_unique<PpoTraining>(run, /*constrained=*/false);
          },
          .check_start = check_perception,
          .own_sections = {},
          .prepare = look_and_search};
}

TrainingRow ppo_constrained_training() {
  config::TrainingFacts facts = ppo_facts();
  facts.name = "ppo_constrained";
  facts.number = "3";
  facts.folder = "phase3";
  facts.help = "the controller, under a limit on what its behaviour costs";
  facts.about =
      "A controller of connected vehicles: it picks some of them and gives each a command that "
      "lasts for a while, so that more traffic gets through. It was trained to keep the cost of "
      "unsafe states under a limit.";
  facts.starts_from = {"ppo"};
  facts.sections.emplace_back("lagrange");
  facts.presets = ppo_constrained_presets();
  return {.facts = std::move(facts),
          .make = [](Run& run) -> std::unique_ptr<Training> {
            return std::make_unique<PpoTraining>(run, /*constrained=*/true);
          },
          .check_start = check_perception,
          .own_sections = {},
          .prepare = look_and_search};
}

}  // namespace traffic::train
