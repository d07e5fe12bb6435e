#include "ppo/make_training.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cstdio>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "policy/decider.h"
#include "policy/fit.h"
#include "ppo/learner.h"
#include "ppo/learner_device.h"
#include "ppo/log.h"
#include "ppo/prior.h"
#include "ppo/return_point.h"
#include "rollouts/handover.h"
#include "rollouts/rollouts.h"
#include "rollouts/units.h"
#include "run/snapshot_parts.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// On this rank: everything that lives as long as the training.
class PpoTraining final : public Training {
 public:
  PpoTraining(Run& run, PpoExtras extras)
      : run_(run),
        config_(run.config()),
        communicator_(run.communicator()),
        rollouts_(config_, run.session(), communicator_, time_split_),
        perception_(config_, rollouts_.conflicts(), communicator_.device()),
        learner_communicator_(learner_communicator(config_, perception_.widths(), communicator_)),
        policy_(config_, perception_.widths(), learner_communicator_.device()),
        lights_(std::move(extras.lights)),
        constraint_(extras.constrained
                        ? std::make_unique<Constraint>(config_, perception_.widths().conflict,
                                                       rollouts_.conflicts(), learner_communicator_)
                        : nullptr),
        prior_(config_, perception_.widths(), learner_communicator_.device()),
        learner_(config_, policy_, learner_communicator_, rollouts_.conflicts(),
                 {.constraint = constraint_.get(), .prior = &prior_}),
        log_(run, {rollouts_, constraint_.get()}),
        imitation_end_(config_.imitation.iterations),
        handover_(config_, {.selection = rollouts_.selection(), .handover = rollouts_.handover()},
                  {.name = "ppo",
                   .constrained = extras.constrained,
                   .only = decides_of(config_.training.decide)}),
        return_point_(config_.ppo) {
    if (lights_) rollouts_.set_lights(lights_->setter());
  }

  [[nodiscard]] TrainingUnits units() const override { return units_of_rollouts(); }
  [[nodiscard]] std::int64_t step() const override { return iteration_; }
  [[nodiscard]] std::int64_t total_steps() const override { return config_.training.iterations; }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_.parameters();
  }

  [[nodiscard]] MemoryNeeds memory_needs() const override;
  [[nodiscard]] std::string batch_text() const override;

  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  std::optional<Iteration> iterate() override;
  [[nodiscard]] bool start_is_candidate() const override {
    return imitation_end_ == 0 && !config_.vehicles.advisor.empty();
  }
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override;
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override;
  void close() override { rollouts_.close(); }

 private:
  void start_from(const checkpoint::Snapshot& snapshot);
  void take_weights(const checkpoint::Snapshot& snapshot);
  void judged(const std::function<void()>& use);
  void remember_features(const checkpoint::Snapshot& snapshot);
  [[nodiscard]] bool imitates() const { return iteration_ < imitation_end_; }
  void end_imitation(const UpdateResult& update);
  void go_back();

  Run& run_;
  const config::Config& config_;
  comm::Communicator& communicator_;
  Rollouts rollouts_;
  Perception perception_;
  comm::Communicator& learner_communicator_;
  Policy policy_;
  Decider decider_{perception_, policy_};
  std::unique_ptr<TrainedLights> lights_;   ///< null: they do not learn
  std::unique_ptr<Constraint> constraint_;  ///< null without one
  Prior prior_;
  Learner learner_;
  ControllerLog log_;
  std::int64_t iteration_ = 0;
  std::int64_t total_steps_ = 0;      ///< control steps of all ranks
  std::int64_t total_env_steps_ = 0;  ///< simulation steps of all ranks in training
  std::string features_;              ///< that the world model was trained with; empty: not known
  std::int64_t imitation_end_;        ///< first iteration of PPO
  std::int64_t best_iteration_ = 0;   ///< after which the best policy stood
  Handover handover_;
  ReturnPoint return_point_;
};

/// The experience of an iteration: as it is collected, as it is packed, the copy of what is
/// complete, and what learning gathers of it.
MemoryNeeds PpoTraining::memory_needs() const {
  constexpr std::int64_t kCandidates = 10;  // of a state, about
  constexpr std::int64_t kCopies = 4;
  const auto& widths = perception_.widths();
  const std::int64_t states = config_.episodes.train_batch_size / communicator_.size();
  const std::int64_t values =
      kCandidates * widths.own + widths.shared + rollouts_.conflicts() * widths.conflict;
  const std::int64_t parameters = learner_.parameters().flat().numel();
  constexpr std::int64_t kWithAdam = 3;
  return {.host = static_cast<std::int64_t>(sizeof(float)) *
                  (kCopies * states * values + kWithAdam * parameters)};
}

std::string PpoTraining::batch_text() const {
  const config::Ppo& ppo = config_.ppo;
  return fmt::format(
      "{} control steps of all ranks, in {} passes of minibatches of {} of all ranks",
      config_.episodes.train_batch_size, ppo.num_epochs, ppo.minibatch_size);
}

/// With the weights of another run, as far as that has them.
void PpoTraining::start() {
  const std::string& path = config_.run.init_from;
  if (path.empty()) {
    if (constraint_) {
      spdlog::warn("run.init_from is empty: {} starts with no controller", run_.facts().title());
    }
  } else {
    start_from(checkpoint::load(path));
  }
  perception_.freeze();
  log_.start(0, rollouts_.selection().uncontrolled());
}

/// What it has of the two.
void PpoTraining::start_from(const checkpoint::Snapshot& snapshot) {
  const bool has_lights = lights_ && lights_->are_in(snapshot);
  if (has_lights) {
    lights_->start_from(snapshot);
    spdlog::info("starting from {}: traffic lights", snapshot.source());
    if (!snapshot.contains("policy_hash")) return;
  }
  take_weights(snapshot);
}

/// Of a world model that does not say it, nothing is known.
void PpoTraining::remember_features(const checkpoint::Snapshot& snapshot) {
  features_ = snapshot.contains("features") ? snapshot.text("features") : "";
}

void PpoTraining::take_weights(const checkpoint::Snapshot& snapshot) {
  remember_features(snapshot);
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
  remember_features(snapshot);
  learner_.restore_from(snapshot);
  if (lights_) lights_->restore_from(snapshot);
  if (constraint_) constraint_->restore_from(snapshot);
  rollouts_.restore_from(snapshot);
  iteration_ = snapshot.integer("ppo/iteration");
  total_steps_ = snapshot.integer("ppo/total_steps");
  total_env_steps_ = snapshot.integer("ppo/total_env_steps");
  if (snapshot.contains("ppo/imitation_end")) {
    imitation_end_ = snapshot.integer("ppo/imitation_end");
    prior_.restore_from(snapshot);
  }
  handover_.restore_from(snapshot);
  return_point_.restore_from(snapshot, learner_);
  perception_.freeze();
  log_.start(iteration_, rollouts_.selection().uncontrolled());
}

/// Collect, learn. What either gives up half-way, because a stop is requested, is given up whole.
std::optional<Iteration> PpoTraining::iterate() {
  const bool imitates = this->imitates();
  if (lights_) lights_->begin_iteration();
  const auto batch =
      rollouts_.collect({.iteration = iteration_, .decider = decider_, .imitates = imitates});
  if (!batch) return std::nullopt;
  // The price follows what was done by the policy, at the old one; fragments may have brought no
  // episode to its end.
  if (constraint_ && !imitates && !batch->outcomes.empty()) {
    constraint_->observe(mean_cost(batch->outcomes));
  }
  const auto learning = time_split_.measure(TimeShare::kLearn);
  const auto update =
      imitates ? learner_.imitate(batch->experience, batch->states, iteration_)
               : learner_.update(batch->experience, batch->states, iteration_, imitation_end_);
  if (!update) return std::nullopt;
  report::NamedValues of_lights;
  if (lights_) {
    auto learned = lights_->learn(batch->episodes, iteration_);
    if (!learned) return std::nullopt;
    of_lights = std::move(*learned);
  }
  ++iteration_;
  if (imitates) end_imitation(*update);
  total_steps_ += batch->states;
  total_env_steps_ += batch->env_steps;
  const Iterated done{
      .iteration = iteration_, .batch = *batch, .update = *update, .total_steps = total_steps_};
  report::NamedValues figures = log_.iterated(done);
  report::NamedValues shown = shown_of(figures);
  figures.insert(figures.end(), of_lights.begin(), of_lights.end());
  return Iteration{.items = batch->env_steps,
                   .loss = imitates
                               ? WatchedLoss{.value = update->imitation_loss, .stage = 0}
                               : WatchedLoss{.value = update->statistics.value_loss, .stage = 1},
                   .evaluation_due = iteration_ % config_.training.eval_interval == 0 ||
                                     iteration_ == imitation_end_,
                   .metrics = std::move(figures),
                   .shown = std::move(shown)};
}

/// Once it is due: the number of iterations is over, or the policy does what the script does.
void PpoTraining::end_imitation(const UpdateResult& update) {
  const double wanted = config_.imitation.agreement;
  if (wanted > 0.0 && update.imitation_agreement >= wanted && imitates()) {
    imitation_end_ = iteration_;
    spdlog::info("iteration {}: agreement with the script {:.3f}, PPO goes on from here",
                 iteration_, update.imitation_agreement);
  }
  if (!imitates()) prior_.set(policy_, iteration_);
}

/// Calls it while lights that learn are as they are judged.
void PpoTraining::judged(const std::function<void()>& use) {
  if (lights_) {
    lights_->judge(use);
  } else {
    use();
  }
}

std::optional<Assessment> PpoTraining::evaluate() {
  const bool imitation_ends = imitation_end_ > 0 && iteration_ == imitation_end_;
  std::optional<Assessed> assessed;
  judged([&] { assessed = handover_.assess(decider_, imitation_ends); });
  rollouts_.count();
  if (!assessed) return std::nullopt;
  log_.evaluated(iteration_, *assessed);
  if (assessed->best) return_point_.keep(learner_, lights_.get());
  const bool learns_on = iteration_ > imitation_end_ && iteration_ < total_steps();
  if (assessed->fallen && learns_on) go_back();
  return Assessment{.best = assessed->best, .metrics = assessment_figures(*assessed)};
}

/// The next experience is another one, drawn for the iterations that follow.
void PpoTraining::go_back() {
  if (!return_point_.go_back(learner_, lights_.get())) {
    spdlog::warn(
        "iteration {}: the gain fell below the best by more than its interval, and "
        "training has gone back {} times already (training.max_rollbacks)",
        iteration_, return_point_.rollbacks());
    return;
  }
  spdlog::warn(
      "iteration {}: the gain fell below the best by more than its interval; going on "
      "from the best with {:.3g} of the learning rate ({} of {} times)",
      iteration_, learner_.step_factor(), return_point_.rollbacks(),
      config_.training.max_rollbacks);
}

void PpoTraining::take_best(const checkpoint::Snapshot& snapshot) {
  learner_.restore_from(snapshot);
  if (lights_) lights_->start_from(snapshot);
  handover_.take_best(snapshot);
  best_iteration_ = snapshot.integer("ppo/iteration");
}

void PpoTraining::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, perception_.parameters());
  learner_.save_to(snapshot);
  if (lights_) lights_->save_to(snapshot);
  if (constraint_) constraint_->save_to(snapshot);
  rollouts_.save_to(snapshot);
  snapshot.put_int("ppo/iteration", iteration_);
  snapshot.put_int("ppo/total_steps", total_steps_);
  snapshot.put_int("ppo/total_env_steps", total_env_steps_);
  snapshot.put_int("ppo/conflicts", rollouts_.conflicts());
  snapshot.put_int("ppo/imitation_end", imitation_end_);
  prior_.save_to(snapshot);
  handover_.save_to(snapshot);
  return_point_.save_to(snapshot);
  snapshot.put_text("model_hash", model_hash_text(config_));
  snapshot.put_text("policy_hash", policy_hash(config_));
  if (!features_.empty()) snapshot.put_text("features", features_);
}

void PpoTraining::count_faults(report::Summary& summary) const {
  const rollout::PoolCounters counters = rollouts_.counters();
  summary.faults["lost_episodes"] = static_cast<std::int64_t>(counters.lost_episodes);
  summary.faults["restarted_environments"] = static_cast<std::int64_t>(counters.restarts);
  summary.faults["skipped_steps"] = learner_.skipped_steps() +
                                    (constraint_ ? constraint_->skipped_steps() : 0) +
                                    (lights_ ? lights_->skipped_steps() : 0);
}

void PpoTraining::conclude(report::Summary& summary) {
  std::string text;
  judged([&] {
    text = handover_.conclude({.decider = decider_,
                               .imitated_only = best_iteration_ <= imitation_end_,
                               .checkpoint = run_.best_path().string()},
                              summary);
  });
  if (lights_) summary.result["light_decisions"] = lights_->decisions();
  rollouts_.count();
  summary.result["total_timesteps"] = total_steps_;
  summary.result["rollbacks"] = return_point_.rollbacks();
  if (constraint_) summary.result["lagrange_multiplier"] = constraint_->multiplier();
  if (!run_.is_reporter()) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace

std::unique_ptr<Training> make_ppo_training(Run& run, PpoExtras extras) {
  return std::make_unique<PpoTraining>(run, std::move(extras));
}

}  // namespace traffic::train
