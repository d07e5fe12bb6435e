#include "traffic/train/phase2.h"

#include <spdlog/spdlog.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include "phase2_collector.h"
#include "phase2_learner.h"
#include "phase2_perception.h"
#include "phase2_policy.h"
#include "phase2_report.h"
#include "phase2_setup.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/write.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/core/signals.h"
#include "traffic/report/progress_bar.h"
#include "traffic/report/table.h"
#include "traffic/report/time_split.h"

namespace traffic::train {
namespace {

constexpr std::uint64_t kTrafficStream = 31;
constexpr std::uint64_t kSamplingStream = 32;

/// The phase on this rank: everything that lives as long as it.
class Phase2 {
 public:
  Phase2(Run& run, const comm::MpiSession& session)
      : run_(run),
        config_(run.config()),
        communicator_(run.communicator()),
        pool_(session, config_),
        collector_(config_, pool_, time_split_),
        baseline_(get_baseline(config_, collector_, communicator_)),
        curve_(baseline_.growth),
        reward_(curve_, baseline_.expected_demand, config_.ppo.reward_scale),
        perception_(config_, curve_.conflicts(), communicator_.device()),
        policy_(config_, perception_.widths(), communicator_.device()),
        learner_(config_, policy_, communicator_, curve_.conflicts()) {
    run.check_room(snapshot().total_bytes());
  }

  PhaseEnd train();
  void finish(PhaseEnd end);
  void close() { pool_.close(); }

 private:
  void resume();
  [[nodiscard]] bool iterate();  // false: a stop was requested
  [[nodiscard]] std::int64_t episodes_per_iteration() const;
  [[nodiscard]] Experience share_experience(const std::vector<Trajectory>& trajectories,
                                            std::int64_t episodes, std::int64_t& total) const;
  [[nodiscard]] GreedyEvaluation evaluate();
  void evaluate_and_save();
  void log_iteration(const std::vector<EpisodeOutcome>& outcomes, const UpdateResult& update,
                     std::int64_t env_steps, double seconds);
  [[nodiscard]] bool is_complete() const { return iteration_ >= config_.ppo.iterations; }
  [[nodiscard]] checkpoint::Snapshot snapshot() const;
  [[nodiscard]] std::uint64_t parameters_hash() const;

  Run& run_;
  config::Config config_;
  comm::Communicator& communicator_;
  report::TimeSplit time_split_;
  rollout::EnvPool pool_;
  Collector collector_;
  Baseline baseline_;
  rl::BaselineCurve curve_;
  Reward reward_;
  Perception perception_;
  Policy policy_;
  Learner learner_;
  std::unique_ptr<report::ProgressBar> progress_;  ///< of the reporter
  std::optional<EpisodeLog> episodes_;
  std::vector<EpisodeOutcome> uncontrolled_;  ///< of the selection seeds
  std::int64_t iteration_ = 0;
  std::int64_t total_steps_ = 0;      ///< control steps of all ranks
  std::int64_t total_env_steps_ = 0;  ///< simulation steps of all ranks in training
  double best_gain_ = -std::numeric_limits<double>::infinity();
  std::optional<GreedyEvaluation> last_evaluation_;
  double trained_s_ = 0;
  double startup_s_ = 0;
};

std::int64_t Phase2::episodes_per_iteration() const {
  const double steps = std::ceil(curve_.duration_s() / config_.env.control_period_s - 1e-9);
  const auto episodes = static_cast<std::int64_t>(
      std::ceil(static_cast<double>(config_.ppo.train_batch_size) / std::max(1.0, steps)));
  return std::max<std::int64_t>(episodes, communicator_.size());
}

void Phase2::resume() {
  const auto snapshot = run_.take_resume_point();
  if (run_.is_reporter()) {
    episodes_.emplace(run_.dir() / "episodes.csv",
                      snapshot ? std::optional(snapshot->step()) : std::nullopt);
  }
  if (!snapshot) {
    if (!config_.run.init_from.empty()) {
      load_perception(checkpoint::load(config_.run.init_from), config_, perception_);
    } else if (!perception_.parameters().empty()) {
      spdlog::warn("run.init_from is empty: encoder and world model keep their random weights");
    }
    return;
  }
  check_phase2_resumable(*snapshot, config_);
  load_perception(*snapshot, config_, perception_);
  learner_.restore_from(*snapshot);
  iteration_ = snapshot->integer("ppo/iteration");
  total_steps_ = snapshot->integer("ppo/total_steps");
  total_env_steps_ = snapshot->integer("ppo/total_env_steps");
  best_gain_ = snapshot->real("ppo/best_gain");
}

PhaseEnd Phase2::train() {
  resume();
  perception_.freeze();
  if (run_.is_reporter()) {
    progress_ = std::make_unique<report::ProgressBar>(
        report::ProgressOptions{.label = "phase 2",
                                .total_steps = config_.ppo.iterations,
                                .first_step = iteration_,
                                .unit = "env steps",
                                .mode = config_.log.progress});
  }
  const std::int64_t total = config_.ppo.eval_episodes;
  uncontrolled_ = share_outcomes(
      collector_.run_uncontrolled(requests_of_rank(
          total, communicator_,
          [](std::int64_t i) { return kFirstSelectionSeed + static_cast<std::uint64_t>(i); })),
      total, communicator_);
  if (episodes_ && iteration_ == 0) episodes_->write(0, "none", uncontrolled_);
  if (is_complete()) spdlog::info("phase 2 is complete already: {} iterations", iteration_);
  while (!is_complete()) {
    if (!iterate()) {
      run_.save(snapshot());
      spdlog::info(
          "stopped by request at iteration {}; start again with the same --run-dir to go on",
          iteration_);
      return PhaseEnd::kStopped;
    }
    if (iteration_ % config_.ppo.eval_interval == 0 || is_complete()) evaluate_and_save();
  }
  progress_.reset();
  return PhaseEnd::kDone;
}

bool Phase2::iterate() {
  const Stopwatch clock;
  const auto seed = static_cast<std::uint64_t>(config_.run.seed);
  const auto iteration = static_cast<std::uint64_t>(iteration_);
  const std::int64_t episodes = episodes_per_iteration();
  const std::int64_t env_steps_before = collector_.env_steps();
  const auto collected =
      collector_.run(requests_of_rank(episodes, communicator_,
                                      [&](std::int64_t i) {
                                        return kFirstTrainingSeed +
                                               derive_seed(seed, {kTrafficStream, iteration,
                                                                  static_cast<std::uint64_t>(i)}) %
                                                   kNumTrainingSeeds;
                                      }),
                     {.perception = &perception_,
                      .policy = &policy_,
                      .reward = &reward_,
                      .sampling_seed = derive_seed(seed, {kSamplingStream, iteration})});
  const auto learning = time_split_.measure(report::Share::kLearn);
  const auto outcomes = share_outcomes(collected.outcomes, episodes, communicator_);
  std::int64_t states = 0;
  const Experience experience = share_experience(collected.trajectories, episodes, states);
  const UpdateResult update = learner_.update(experience, states, iteration_);
  ++iteration_;
  total_steps_ += states;
  const auto env_steps = static_cast<std::int64_t>(communicator_.all_reduce_scalar(
      static_cast<double>(collector_.env_steps() - env_steps_before)));
  total_env_steps_ += env_steps;
  trained_s_ += clock.seconds();
  if (startup_s_ == 0.0) startup_s_ = seconds_since_launch();
  if (episodes_) episodes_->write(iteration_, "train", outcomes);
  log_iteration(outcomes, update, env_steps, clock.seconds());
  return communicator_.all_reduce_scalar(stop_requested() ? 1.0 : 0.0) == 0.0;
}

Experience Phase2::share_experience(const std::vector<Trajectory>& trajectories,
                                    std::int64_t episodes, std::int64_t& total) const {
  torch::Tensor lengths = torch::zeros({episodes}, torch::kLong);
  for (const Trajectory& trajectory : trajectories) {
    lengths[trajectory.order] = static_cast<std::int64_t>(trajectory.steps.size());
  }
  communicator_.all_reduce(lengths);
  const torch::Tensor first = lengths.cumsum(0) - lengths;
  std::vector<std::int64_t> first_state;
  for (const Trajectory& trajectory : trajectories) {
    first_state.push_back(first[trajectory.order].item<std::int64_t>());
  }
  total = lengths.sum().item<std::int64_t>();
  return pack(trajectories, first_state, perception_.widths(), perception_.conflicts(),
              policy_.top_k());
}

GreedyEvaluation Phase2::evaluate() {
  const std::int64_t total = config_.ppo.eval_episodes;
  const auto collected = collector_.run(
      requests_of_rank(
          total, communicator_,
          [](std::int64_t i) { return kFirstSelectionSeed + static_cast<std::uint64_t>(i); }),
      {.perception = &perception_, .policy = &policy_, .reward = &reward_});
  GreedyEvaluation result;
  result.controlled = share_outcomes(collected.outcomes, total, communicator_);
  result.gain =
      mean_interval(paired_gains(ocr_all_of(result.controlled), ocr_all_of(uncontrolled_)));
  return result;
}

void Phase2::evaluate_and_save() {
  comm::check_replicas_equal(communicator_, learner_.parameters().flat(),
                             "the parameters after an iteration");
  GreedyEvaluation evaluation = evaluate();
  spdlog::info(
      "iteration {}: gain of ocr_all over no control {:+.2f} +- {:.2f} % on {} selection seeds "
      "(worst {:+.2f}), {:.0f} vehicle-seconds under control",
      iteration_, evaluation.gain.mean, evaluation.gain.half_width, evaluation.gain.count,
      evaluation.gain.least, mean_cv_steps(evaluation.controlled));
  if (episodes_) episodes_->write(iteration_, "eval", evaluation.controlled);
  run_.write_metrics(iteration_, evaluation_figures(evaluation));
  const bool best = evaluation.gain.mean > best_gain_;
  if (best) best_gain_ = evaluation.gain.mean;
  if (run_.save(snapshot()) && best) run_.mark_best(iteration_);
  last_evaluation_ = std::move(evaluation);
}

void Phase2::log_iteration(const std::vector<EpisodeOutcome>& outcomes, const UpdateResult& update,
                           std::int64_t env_steps, double seconds) {
  report::NamedValues values = rollout_figures(outcomes, baseline_.mean_ocr_all);
  const double gain = values.back().second;
  const double reward = values.front().second;
  const report::NamedValues more = update_figures(update);
  values.insert(values.end(), more.begin(), more.end());
  values.emplace_back("time/iterations", static_cast<double>(iteration_));
  values.emplace_back("time/total_timesteps", static_cast<double>(total_steps_));
  values.emplace_back("time/env_steps_per_s", static_cast<double>(env_steps) / seconds);
  values.emplace_back("time/iteration_s", seconds);
  for (const auto& [name, share] : time_split_.shares()) {
    values.emplace_back("time_share/" + name, share);
  }
  const rollout::PoolCounters counters = pool_.counters();
  values.emplace_back("rollout/lost_episodes", static_cast<double>(counters.lost_episodes));
  values.emplace_back("rollout/restarts", static_cast<double>(counters.restarts));
  run_.write_metrics(iteration_, values);
  if (progress_) {
    progress_->update(iteration_, env_steps,
                      {{"reward", reward},
                       {"gain", gain},
                       {"kl", update.statistics.approx_kl},
                       {"entropy", update.statistics.entropy},
                       {"explained", update.statistics.explained_variance}});
  }
}

checkpoint::Snapshot Phase2::snapshot() const {
  checkpoint::Snapshot snapshot(iteration_);
  for (const auto& [name, parameter] : perception_.parameters()) {
    snapshot.put_tensor("model/" + name, parameter.detach());
  }
  learner_.save_to(snapshot);
  snapshot.put_int("ppo/iteration", iteration_);
  snapshot.put_int("ppo/total_steps", total_steps_);
  snapshot.put_int("ppo/total_env_steps", total_env_steps_);
  snapshot.put_int("ppo/conflicts", curve_.conflicts());
  snapshot.put_real("ppo/best_gain", best_gain_);
  snapshot.put_int("phase", 2);
  snapshot.put_text("model_hash", hex64(config::model_hash(config_)));
  snapshot.put_text("policy_hash", policy_hash(config_));
  snapshot.put_text("config", config::to_toml(config_));
  return snapshot;
}

std::uint64_t Phase2::parameters_hash() const {
  const at::Tensor flat = learner_.parameters().flat().to(at::kCPU);
  return xxh3_64(std::as_bytes(
      std::span(flat.const_data_ptr<float>(), static_cast<std::size_t>(flat.numel()))));
}

void Phase2::finish(PhaseEnd end) {
  report::Summary summary;
  summary.status = end == PhaseEnd::kDone ? "done" : "stopped";
  summary.exit_code = static_cast<int>(exit_code(end));
  summary.phase = 2;
  summary.steps = iteration_;
  summary.seconds = trained_s_;
  summary.env_steps_per_s =
      trained_s_ > 0.0 ? static_cast<double>(total_env_steps_) / trained_s_ : 0.0;
  summary.startup_s = startup_s_;
  summary.time_share = time_split_.shares();
  summary.parameters_xxh3 = hex64(parameters_hash());
  const rollout::PoolCounters counters = pool_.counters();
  summary.faults["lost_episodes"] = static_cast<std::int64_t>(counters.lost_episodes);
  summary.faults["restarted_environments"] = static_cast<std::int64_t>(counters.restarts);
  summary.faults["skipped_steps"] = learner_.skipped_steps();
  if (end == PhaseEnd::kDone) {
    learner_.restore_from(checkpoint::load(run_.best_path()));
    const GreedyEvaluation evaluation = evaluate();
    for (const auto& [name, value] : evaluation_figures(evaluation)) {
      summary.result[name.substr(name.find('/') + 1)] = value;
    }
    summary.result["total_timesteps"] = total_steps_;
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
    run_.keep_phase_result(2);
  }
  run_.write_summary(std::move(summary));
}

}  // namespace

PhaseEnd run_phase2(Run& run, const comm::MpiSession& session) {
  Phase2 phase(run, session);
  const PhaseEnd end = phase.train();
  phase.finish(end);
  phase.close();
  return end;
}

void dry_run_phase2(Run& run, const comm::MpiSession& session) {
  Phase2 phase(run, session);
  phase.close();
  spdlog::info("dry run: configuration, scenario, simulations, model and disk are fine");
}

}  // namespace traffic::train
