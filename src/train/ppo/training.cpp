#include "ppo/training.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>
#include <utility>

#include "policy/fit.h"
#include "policy/perception.h"
#include "policy/policy.h"
#include "ppo/learner.h"
#include "ppo/log.h"
#include "rollouts/outcomes.h"
#include "rollouts/rollouts.h"
#include "run/selection.h"
#include "run/snapshot_parts.h"
#include "run/step_profiler.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/core/signals.h"
#include "traffic/report/time_split.h"

namespace traffic::train {
namespace {

/// Phase 2 or 3 on this rank: everything that lives as long as it.
class ControllerPhase {
 public:
  explicit ControllerPhase(Run& run)
      : run_(run),
        config_(run.config()),
        communicator_(run.communicator()),
        rollouts_(config_, run.session(), communicator_, time_split_),
        perception_(config_, rollouts_.conflicts(), communicator_.device()),
        policy_(config_, perception_.widths(), communicator_.device()),
        constraint_(make_constraint()),
        learner_(config_, policy_, communicator_, rollouts_.conflicts(), constraint_.get()),
        log_(run, {rollouts_, constraint_.get(), time_split_}),
        profiler_(config_.profile, profile_place(run), time_split_) {
    run.check_room(snapshot().total_bytes());
  }

  PhaseEnd train();
  void finish(PhaseEnd end);
  void close() { rollouts_.close(); }

 private:
  [[nodiscard]] std::unique_ptr<Constraint> make_constraint();
  void start();
  void resume();
  [[nodiscard]] bool iterate();  // false: a stop was requested
  void evaluate_and_save();
  [[nodiscard]] bool prefers(const GreedyEvaluation& evaluation);
  [[nodiscard]] bool is_complete() const { return iteration_ >= config_.ppo.iterations; }
  [[nodiscard]] checkpoint::Snapshot snapshot() const;  // collective

  Run& run_;
  config::Config config_;
  comm::Communicator& communicator_;
  report::TimeSplit time_split_;
  Rollouts rollouts_;
  Perception perception_;
  Policy policy_;
  std::unique_ptr<Constraint> constraint_;  ///< of phase 3
  Learner learner_;
  ControllerLog log_;
  StepProfiler profiler_;
  std::int64_t iteration_ = 0;
  std::int64_t total_steps_ = 0;      ///< control steps of all ranks
  std::int64_t total_env_steps_ = 0;  ///< simulation steps of all ranks in training
  Selection selection_;
  double trained_s_ = 0;
  double startup_s_ = 0;
};

std::unique_ptr<Constraint> ControllerPhase::make_constraint() {
  if (config_.run.phase != "3") return nullptr;
  return std::make_unique<Constraint>(config_, perception_.widths().conflict, rollouts_.conflicts(),
                                      communicator_);
}

/// A new run: with the weights of another one, as far as that has them.
void ControllerPhase::start() {
  const std::string& path = config_.run.init_from;
  if (path.empty()) {
    if (!perception_.parameters().empty()) {
      spdlog::warn("run.init_from is empty: encoder and world model keep their random weights");
    }
    if (constraint_) spdlog::warn("run.init_from is empty: phase 3 starts with no controller");
    return;
  }
  const checkpoint::Snapshot snapshot = checkpoint::load(path);
  if (run_.is_reporter()) warn_of_unknown_settings(snapshot);
  load_perception(snapshot, config_, perception_);
  const bool has_controller = snapshot.contains("policy_hash");
  if (has_controller) {
    check_policy_fits(snapshot, config_);
    learner_.start_from(snapshot);
  } else if (constraint_) {
    throw CheckpointError(
        "checkpoint {}: holds no controller, which phase 3 goes on with; give one of phase 2",
        snapshot.source());
  }
  spdlog::info("starting from {}, of phase {}: {}", path, snapshot.integer("phase"),
               has_controller ? "perception and controller" : "perception");
}

void ControllerPhase::resume() {
  const auto snapshot = run_.take_resume_point();
  if (!snapshot) return start();
  check_policy_resumable(*snapshot, config_);
  load_perception(*snapshot, config_, perception_);
  learner_.restore_from(*snapshot);
  if (constraint_) constraint_->restore_from(*snapshot);
  rollouts_.restore_from(*snapshot);
  iteration_ = snapshot->integer("ppo/iteration");
  total_steps_ = snapshot->integer("ppo/total_steps");
  total_env_steps_ = snapshot->integer("ppo/total_env_steps");
  selection_.restore(snapshot->real("ppo/best_excess"), snapshot->tensor("ppo/best_gains"));
}

PhaseEnd ControllerPhase::train() {
  resume();
  perception_.freeze();
  log_.start(iteration_, rollouts_.uncontrolled());
  if (is_complete()) {
    spdlog::info("phase {} is complete already: {} iterations", config_.run.phase, iteration_);
  }
  while (!is_complete()) {
    const bool going_on = iterate();
    const bool due = iteration_ % config_.ppo.eval_interval == 0 || is_complete();
    if (due) evaluate_and_save();
    if (!going_on && !is_complete()) {
      if (!due) run_.save(snapshot());
      spdlog::info(
          "stopped by request at iteration {}; start again with the same --run-dir to go on",
          iteration_);
      return PhaseEnd::kStopped;
    }
  }
  profiler_.finish();
  log_.end();
  return PhaseEnd::kDone;
}

bool ControllerPhase::iterate() {
  profiler_.before_step(iteration_);
  const Stopwatch clock;
  const RolloutBatch batch = rollouts_.collect(iteration_, perception_, policy_);
  // The price follows what was done at the old one; fragments may have brought no episode to its
  // end.
  if (constraint_ && !batch.outcomes.empty()) constraint_->observe(mean_cost(batch.outcomes));
  UpdateResult update;
  {
    const auto learning = time_split_.measure(report::Share::kLearn);
    update = rollouts_.imitates(iteration_)
                 ? learner_.imitate(batch.experience, batch.states, iteration_)
                 : learner_.update(batch.experience, batch.states, iteration_);
  }
  ++iteration_;
  total_steps_ += batch.states;
  total_env_steps_ += batch.env_steps;
  trained_s_ += clock.seconds();
  if (startup_s_ == 0.0) startup_s_ = seconds_since_launch();
  log_.iterated({.iteration = iteration_,
                 .batch = batch,
                 .update = update,
                 .total_steps = total_steps_,
                 .seconds = clock.seconds()});
  return communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) == 0.0;
}

void ControllerPhase::evaluate_and_save() {
  comm::check_replicas_equal(communicator_, learner_.parameters().flat(),
                             "the parameters after an iteration");
  const GreedyEvaluation evaluation = rollouts_.evaluate(perception_, policy_);
  log_.evaluated(iteration_, evaluation);
  const bool best = prefers(evaluation);
  if (run_.save(snapshot()) && best) run_.mark_best(iteration_);
}

/// By the gain; in phase 3 first of all by whether the limit is kept.
bool ControllerPhase::prefers(const GreedyEvaluation& evaluation) {
  const double over = mean_cost(evaluation.controlled) - config_.lagrange.cost_limit;
  return selection_.prefers(constraint_ ? std::max(0.0, over) : 0.0, evaluation.gains);
}

checkpoint::Snapshot ControllerPhase::snapshot() const {
  checkpoint::Snapshot snapshot(iteration_);
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
  snapshot.put_int("phase", std::stoi(config_.run.phase));
  snapshot.put_text("model_hash", model_hash_text(config_));
  snapshot.put_text("policy_hash", policy_hash(config_));
  snapshot.put_text("config", config::to_toml(config_));
  return snapshot;
}

void ControllerPhase::finish(PhaseEnd end) {
  report::Summary summary;
  summary.status = end == PhaseEnd::kDone ? "done" : "stopped";
  summary.exit_code = static_cast<int>(exit_code(end));
  summary.phase = std::stoi(config_.run.phase);
  summary.steps = iteration_;
  summary.seconds = trained_s_;
  summary.env_steps_per_s =
      trained_s_ > 0.0 ? static_cast<double>(total_env_steps_) / trained_s_ : 0.0;
  summary.startup_s = startup_s_;
  summary.time_share = time_split_.shares();
  summary.parameters_xxh3 = parameters_hash(learner_.parameters());
  const rollout::PoolCounters counters = rollouts_.counters();
  summary.faults["lost_episodes"] = static_cast<std::int64_t>(counters.lost_episodes);
  summary.faults["restarted_environments"] = static_cast<std::int64_t>(counters.restarts);
  summary.faults["skipped_steps"] =
      learner_.skipped_steps() + (constraint_ ? constraint_->skipped_steps() : 0);
  if (end == PhaseEnd::kDone) {
    learner_.restore_from(checkpoint::load(run_.best_path()));
    const GreedyEvaluation evaluation = rollouts_.evaluate(perception_, policy_);
    for (const auto& [name, value] : evaluation_figures(evaluation)) {
      summary.result[name.substr(name.find('/') + 1)] = value;
    }
    summary.result["total_timesteps"] = total_steps_;
    if (constraint_) summary.result["lagrange_multiplier"] = constraint_->multiplier();
    if (run_.is_reporter()) {
      std::fputs(
          fmt::format("best controller on {} selection seeds: gain of ocr_all {:+.2f} +- "
                      "{:.2f} % (worst {:+.2f} %); compare it on seeds of your own with "
                      "traffic_eval --controller checkpoint:{}\n",
                      evaluation.gain.count, evaluation.gain.mean, evaluation.gain.half_width,
                      evaluation.gain.least, run_.best_path().string())
              .c_str(),
          stdout);
      std::fflush(stdout);
    }
    run_.keep_phase_result(summary.phase);
  }
  run_.write_summary(std::move(summary));
}

}  // namespace

PhaseEnd run_ppo(Run& run) {
  ControllerPhase phase(run);
  const PhaseEnd end = phase.train();
  phase.finish(end);
  phase.close();
  return end;
}

void dry_run_ppo(Run& run) {
  ControllerPhase phase(run);
  phase.close();
  spdlog::info("dry run: configuration, scenario, simulations, model and disk are fine");
}

}  // namespace traffic::train
