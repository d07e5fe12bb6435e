#include "agents/training.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/utils.h>

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include "agents/table.h"
#include "agents/vehicles_dqn.h"
#include "run/snapshot_parts.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

void append(report::NamedValues more, report::NamedValues& values) {
  for (auto& value : more) values.push_back(std::move(value));
}

FinalComparison::Kind comparison_of(const config::Config& config, Algorithm algorithm) {
  FinalComparison::Kind kind{.name = "ppo"};
  if (algorithm == Algorithm::kQLearning) {
    kind = {.name = "dqn", .only = Decides::kGreedy};
    if (config.env.vehicles_act()) kind.advice_margin = first_advice_margin(config);
  } else {
    kind.constrained = algorithm == Algorithm::kConstrainedPpo;
    kind.only = config.env.vehicles_act() ? decides_of(config.training.decide) : Decides::kGreedy;
  }
  return kind;
}

}  // namespace

ControllerTraining::ControllerTraining(Run& run, Algorithm algorithm)
    : run_(run),
      config_(run.config()),
      algorithm_(algorithm),
      rollouts_(config_, run.session(), run.communicator(), time_split_),
      log_(run, rollouts_),
      comparison_(config_,
                  {.selection = rollouts_.selection(), .final = rollouts_.final_comparison()},
                  comparison_of(config_, algorithm)) {
  add_agents();
  if (algorithm != Algorithm::kQLearning) return_point_.emplace(config_.training);
  if (std::ranges::all_of(agents_, [](const auto& agent) { return agent->prefers_one_thread(); })) {
    torch::set_num_threads(1);
  }
}

void ControllerTraining::add_agents() {
  const AgentContext context{.run = run_, .rollouts = rollouts_, .time_split = time_split_};
  for (const AgentRow& row : acting_rows(config_.env)) {
    agents_.push_back(row.make(context, algorithm_));
    Agent& agent = *agents_.back();
    if (agent.decider() != nullptr) actors_.vehicles = agent.decider();
    if (AgentInEpisodes* other = agent.in_episodes()) actors_.others.push_back(other);
  }
}

TrainingUnits ControllerTraining::units() const {
  return {.step = "iteration",
          .items = "env steps",
          .rate = "env_steps_per_s",
          .duration = "iteration_s",
          .long_steps = true};
}

std::int64_t ControllerTraining::total_steps() const { return config_.training.iterations; }

bool ControllerTraining::time_is_over() const {
  constexpr double kMinute_s = 60.0;
  return config_.training.minutes > 0 && clock_.seconds() > kMinute_s * config_.training.minutes;
}

const comm::ParameterArena& ControllerTraining::parameters() const {
  return agents_.front()->parameters();
}

std::int64_t ControllerTraining::bytes_of_parts() const {
  std::int64_t bytes = 0;
  for (const auto& agent : agents_) bytes += agent->bytes_of_parts();
  return bytes;
}

MemoryNeeds ControllerTraining::memory_needs() const {
  MemoryNeeds needs;
  for (const auto& agent : agents_) {
    const MemoryNeeds own = agent->memory_needs();
    needs.host += own.host;
    needs.gpu += own.gpu;
  }
  return needs;
}

std::string ControllerTraining::batch_text() const {
  return fmt::format("{} control steps of all ranks", config_.episodes.train_batch_size);
}

std::int64_t ControllerTraining::imitation_end() const {
  std::int64_t end = 0;
  for (const auto& agent : agents_) end = std::max(end, agent->imitation_end());
  return end;
}

void ControllerTraining::start() {
  if (const std::string& path = config_.run.init_from; !path.empty()) {
    const checkpoint::Snapshot snapshot = checkpoint::load(path);
    std::vector<std::string> taken;
    for (const auto& agent : agents_) {
      if (std::string what = agent->start_from(snapshot); !what.empty()) taken.push_back(what);
    }
    if (taken.empty()) {
      throw CheckpointError(
          "checkpoint {} holds no weights for the agents of this run (env.agents is {}); set "
          "run.init_from to a checkpoint of a run with these agents, or leave it out",
          snapshot.source(), fmt::join(config_.env.agents, ", "));
    }
    // A run of Q-learning takes over the checkpoint's advice margin, because the learned values
    // were evaluated with it.
    const bool same = training_of(snapshot).name == run_.facts().name;
    if (algorithm_ == Algorithm::kQLearning && same) comparison_.take_best(snapshot);
    spdlog::info("starting from {}: {}", snapshot.source(), fmt::join(taken, ", "));
  }
  for (const auto& agent : agents_) agent->start();
  log_.start(0, rollouts_.selection().uncontrolled());
}

bool ControllerTraining::start_is_candidate() const {
  const bool advised = !config_.vehicles.advisor.empty() || !config_.env.vehicles_act();
  return imitation_end() == 0 && advised;
}

/// Collects experience, then learns. Returns nothing if the user has asked the program to stop in
/// the meantime; the iteration then does not count.
std::optional<Iteration> ControllerTraining::iterate() {
  comparison_.lean_on_advice(actors_);
  for (const auto& agent : agents_) agent->begin_iteration(progress_);
  const auto batch = rollouts_.collect({.iteration = progress_.iteration,
                                        .actors = actors_,
                                        .imitates = progress_.iteration < imitation_end()});
  if (!batch) return std::nullopt;
  Iteration done{.items = batch->env_steps};
  report::NamedValues of_agents;
  {
    const auto learning = time_split_.measure(TimeShare::kLearn);
    for (const auto& agent : agents_) {
      auto learned = agent->learn(*batch, progress_);
      if (!learned) return std::nullopt;
      append(std::move(learned->metrics), of_agents);
      if (!done.loss) done.loss = learned->loss;
    }
  }
  ++progress_.iteration;
  progress_.control_steps += batch->states;
  env_steps_ += batch->env_steps;
  done.evaluation_due = progress_.iteration % config_.training.eval_interval == 0 ||
                        progress_.iteration == imitation_end();
  done.metrics = log_.iterated(*batch, progress_);
  append(std::move(of_agents), done.metrics);
  done.shown = shown_of(done.metrics);
  return done;
}

void ControllerTraining::with_evaluated_weights(const std::function<void()>& use) {
  std::function<void()> all = use;
  for (const auto& agent : agents_) {
    all = [&agent, inner = std::move(all)] { agent->with_evaluated_weights(inner); };
  }
  all();
}

std::optional<Assessment> ControllerTraining::evaluate() {
  const std::int64_t imitated_until = imitation_end();
  const bool imitation_ends = imitated_until > 0 && progress_.iteration == imitated_until;
  std::optional<Assessed> assessed;
  with_evaluated_weights([&] { assessed = comparison_.assess(actors_, imitation_ends); });
  rollouts_.count();
  if (!assessed) return std::nullopt;
  log_.evaluated(progress_.iteration, *assessed);
  for (const auto& agent : agents_) {
    agent->log_evaluation(assessed->evaluation, progress_.iteration);
  }
  if (return_point_) {
    if (assessed->best) return_point_->keep(agents_);
    const bool learns_on =
        progress_.iteration > imitated_until && progress_.iteration < total_steps();
    if (assessed->fallen && learns_on && config_.training.max_rollbacks > 0) go_back();
  }
  return Assessment{.best = assessed->best, .metrics = assessment_metrics(*assessed)};
}

/// Gives the agents the weights of the best controller again. The number of the iteration does not
/// go back, so that the following iterations draw new episodes.
void ControllerTraining::go_back() {
  if (!return_point_->go_back(agents_)) {
    spdlog::warn(
        "iteration {}: the gain fell significantly below the best, but training has already "
        "returned to the best controller {} times (training.max_rollbacks), so it continues from "
        "here",
        progress_.iteration, return_point_->rollbacks());
    return;
  }
  spdlog::warn(
      "iteration {}: the gain fell significantly below the best; training returns to the best "
      "controller, with {:.3g} times the learning rate (return {} of at most {})",
      progress_.iteration, return_point_->step_factor(), return_point_->rollbacks(),
      config_.training.max_rollbacks);
}

void ControllerTraining::take_best(const checkpoint::Snapshot& snapshot) {
  for (const auto& agent : agents_) agent->take_best(snapshot);
  comparison_.take_best(snapshot);
  best_iteration_ = snapshot.integer("progress/iteration");
}

void ControllerTraining::save_to(checkpoint::Snapshot& snapshot) const {
  for (const auto& agent : agents_) agent->save_to(snapshot);
  rollouts_.save_to(snapshot);
  snapshot.put_int("progress/iteration", progress_.iteration);
  snapshot.put_int("progress/control_steps", progress_.control_steps);
  snapshot.put_int("progress/env_steps", env_steps_);
  comparison_.save_to(snapshot);
  if (return_point_) return_point_->save_to(snapshot);
}

void ControllerTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  for (const auto& agent : agents_) agent->restore_from(snapshot);
  rollouts_.restore_from(snapshot);
  progress_ = {.iteration = snapshot.integer("progress/iteration"),
               .control_steps = snapshot.integer("progress/control_steps")};
  env_steps_ = snapshot.integer("progress/env_steps");
  comparison_.restore_from(snapshot);
  if (return_point_) return_point_->restore_from(snapshot, agents_);
  log_.start(progress_.iteration, rollouts_.selection().uncontrolled());
}

void ControllerTraining::count_faults(report::Summary& summary) const {
  const rollout::PoolCounters counters = rollouts_.counters();
  summary.faults["lost_episodes"] = static_cast<std::int64_t>(counters.lost_episodes);
  summary.faults["restarted_environments"] = static_cast<std::int64_t>(counters.restarts);
  std::int64_t skipped = 0;
  for (const auto& agent : agents_) skipped += agent->skipped_steps();
  summary.faults["skipped_steps"] = skipped;
}

void ControllerTraining::conclude(report::Summary& summary) {
  std::string text;
  with_evaluated_weights([&] {
    text = comparison_.conclude({.actors = actors_,
                                 .learned_nothing_yet = best_iteration_ <= imitation_end(),
                                 .checkpoint = run_.best_path().string()},
                                summary);
  });
  rollouts_.count();
  summary.result["total_timesteps"] = progress_.control_steps;
  summary.result["env_steps"] = env_steps_;
  if (return_point_) summary.result["rollbacks"] = return_point_->rollbacks();
  for (const auto& agent : agents_) agent->conclude(summary);
  if (!run_.is_reporter()) return;
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
}

}  // namespace traffic::train
