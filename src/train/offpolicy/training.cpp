#include "traffic/train/offpolicy/training.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "offpolicy/experience.h"
#include "offpolicy/learner.h"
#include "offpolicy/selection_games.h"
#include "offpolicy/start.h"
#include "run/selection.h"
#include "run/snapshot_parts.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace offpolicy {
namespace {

/// On this rank: everything that lives as long as the training. It learns on the CPU, where the
/// games are: an update of networks of this size takes a GPU longer to be told than to compute.
class SnakesTraining final : public Training {
 public:
  explicit SnakesTraining(Run& run)
      : run_(run),
        settings_(run.config().extension<OffPolicy>()),
        snakes_(run.config().extension<Snakes>()),
        seed_(static_cast<std::uint64_t>(run.config().run.seed)),
        communicator_(run.communicator().host()),
        learner_(make_learner(settings_, SnakesGames::spaces_of(snakes_),
                              derive_seed(seed_, {kNetworkStream}), communicator_)),
        experience_({.learning = settings_,
                     .snakes = snakes_,
                     .seed = seed_,
                     .communicator = communicator_,
                     .time_split = time_split_},
                    *learner_) {}

  [[nodiscard]] TrainingUnits units() const override {
    return {
        .step = "episode", .items = "env steps", .rate = "env_steps_per_s", .duration = "round_s"};
  }
  [[nodiscard]] std::int64_t step() const override { return episodes_; }
  [[nodiscard]] std::int64_t total_steps() const override { return settings_.max_episodes; }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_->networks().parameters();
  }

  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  [[nodiscard]] std::int64_t bytes_of_parts() const override {
    return experience_.bytes_of_parts();
  }
  std::optional<Iteration> iterate() override;
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override {
    learner_->restore_from(snapshot);
  }
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override {
    summary.faults["skipped_steps"] = learner_->networks().skipped_steps();
  }

 private:
  [[nodiscard]] TrainingProgress progress() const {
    return {.episode = episodes_, .max_episodes = settings_.max_episodes};
  }
  [[nodiscard]] double epsilon() const;
  [[nodiscard]] double learning_rate_factor() const;
  void learn(std::map<std::string, double>& sums);
  report::NamedValues figures_of_round(const std::map<std::string, double>& sums,
                                       std::int64_t updates);
  [[nodiscard]] SelectionScores play_selection();

  Run& run_;
  const OffPolicy settings_;
  const Snakes snakes_;
  std::uint64_t seed_;
  comm::Communicator& communicator_;
  std::unique_ptr<Learner> learner_;
  Experience experience_;
  std::int64_t episodes_ = 0;   ///< of all ranks
  std::int64_t env_steps_ = 0;  ///< likewise
  std::int64_t rounds_ = 0;
  std::int64_t updates_ = 0;
  std::int64_t owed_steps_ = 0;  ///< of this rank's games since the last update
  Selection selection_;
};

double SnakesTraining::epsilon() const {
  const double factor = std::pow(settings_.epsilon_speed, static_cast<double>(env_steps_));
  return std::max(settings_.epsilon_end, settings_.epsilon * factor);
}

double SnakesTraining::learning_rate_factor() const {
  const double over = static_cast<double>(episodes_) / static_cast<double>(settings_.max_episodes);
  return learning_rate_scale(settings_, communicator_.size()) *
         std::lerp(1.0, settings_.final_learning_rate_share, std::min(1.0, over));
}

void SnakesTraining::start() {
  const std::string& from = run_.config().run.init_from;
  if (!from.empty()) {
    const checkpoint::Snapshot snapshot =
        checkpoint::load(starting_checkpoint(from, settings_.init_episode));
    check_training(snapshot, run_.facts());
    check_learner_kind(snapshot, settings_);
    learner_->restore_from(snapshot);
    spdlog::info("starting from {}: networks, their targets and optimisers, episode {}",
                 snapshot.source(), snapshot.step());
  }
  comm::check_replicas_equal(communicator_, parameters().flat(), "the parameters at the start");
  experience_.start(progress());
}

/// A round: as many steps as a game has, with updates between them.
std::optional<Iteration> SnakesTraining::iterate() {
  fault::hit("train.step", communicator_.rank(), rounds_);
  experience_.begin_round(progress(), rounds_);
  std::map<std::string, double> sums;
  const std::int64_t updates_before = updates_;
  for (int step = 0; step < game::kMaxSteps; ++step) {
    experience_.step(epsilon());
    env_steps_ += snakes_.games * communicator_.size();
    if (experience_.num_transitions() >= settings_.learning_starts) owed_steps_ += snakes_.games;
    for (; owed_steps_ >= settings_.update_interval; owed_steps_ -= settings_.update_interval) {
      learn(sums);
    }
  }
  ++rounds_;
  const std::int64_t before = episodes_;
  report::NamedValues figures = figures_of_round(sums, updates_ - updates_before);
  experience_.keep_self(before, episodes_);
  const report::NamedValues shown{figures.front()};
  return Iteration{
      .items = game::kMaxSteps * snakes_.games * communicator_.size(),
      .evaluation_due = before / settings_.eval_interval != episodes_ / settings_.eval_interval,
      .metrics = std::move(figures),
      .shown = shown};
}

/// Sample, then targets, backward, reduce, clip, Adam.
void SnakesTraining::learn(std::map<std::string, double>& sums) {
  Rng rng = experience_.rng_of(kReplayStream, updates_);
  const Batch& batch = experience_.draw(rng);
  const auto learning = time_split_.measure(TimeShare::kLearn);
  const double total_batch = static_cast<double>(batch.obs.size(0) * communicator_.size());
  const Figures figures = learner_->update(batch, {.update = updates_,
                                                   .learning_rate_factor = learning_rate_factor(),
                                                   .total_batch = total_batch,
                                                   .rng = rng});
  for (const auto& [name, value] : figures) {
    sums[name] += value / (name == "grad_norm" ? communicator_.size() : total_batch);
  }
  ++updates_;
}

/// Of all ranks; counts the episodes.
report::NamedValues SnakesTraining::figures_of_round(const std::map<std::string, double>& sums,
                                                     std::int64_t updates) {
  const GameFigures played = experience_.take_figures();
  std::vector<double> mine{played.games, played.score, played.own_length, played.other_length,
                           static_cast<double>(experience_.num_transitions())};
  const std::size_t of_games = mine.size();
  for (const auto& [name, sum] : sums) mine.push_back(sum);
  const torch::Tensor all = torch::tensor(mine, torch::kDouble);
  communicator_.all_reduce(all);
  const double* sum = all.const_data_ptr<double>();
  episodes_ += std::llround(sum[0]);
  const double games = std::max(1.0, sum[0]);
  report::NamedValues figures{
      {"rollout/win_percent", 100.0 * sum[1] / games},
      {"rollout/own_growth", sum[2] / games},
      {"rollout/other_growth", sum[3] / games},
      {"replay/transitions", sum[4]},
      {"train/epsilon", epsilon()},
      {"train/learning_rate", settings_.learning_rate * learning_rate_factor()},
      {"train/updates", static_cast<double>(updates_)}};
  const double* of_update = sum + of_games;
  for (const auto& [name, unused] : sums) {
    figures.emplace_back("train/" + name, *of_update++ / static_cast<double>(updates));
  }
  return figures;
}

SelectionScores SnakesTraining::play_selection() {
  return play_selection_games(
      {.network = learner_->policy(), .first_score = learner_->first_score()},
      {.seed = seed_, .games = settings_.eval_games}, communicator_);
}

std::optional<Assessment> SnakesTraining::evaluate() {
  const SelectionScores scores = play_selection();
  return Assessment{.best = selection_.prefers(0.0, scores.of_starts), .metrics = scores.figures};
}

void SnakesTraining::conclude(report::Summary& summary) {
  for (const auto& [name, value] : play_selection().figures) {
    summary.result[name.substr(name.find('/') + 1)] = value;
  }
  summary.result["env_steps"] = env_steps_;
  summary.result["updates"] = updates_;
  spdlog::info(
      "compare it on games of your own with traffic_eval --controller checkpoint:{} --against bfs",
      run_.best_path().string());
}

void SnakesTraining::save_to(checkpoint::Snapshot& snapshot) const {
  comm::check_replicas_equal(communicator_, parameters().flat(), "the parameters to be saved");
  learner_->save_to(snapshot);
  put_learner_kind(snapshot, settings_);
  experience_.save_to(snapshot);
  snapshot.put_int("offpolicy/episodes", episodes_);
  snapshot.put_int("offpolicy/env_steps", env_steps_);
  snapshot.put_int("offpolicy/rounds", rounds_);
  snapshot.put_int("offpolicy/updates", updates_);
  snapshot.put_int("offpolicy/owed_steps", owed_steps_);
  snapshot.put_tensor("offpolicy/best_scores", selection_.best_gains());
}

void SnakesTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  check_learner_kind(snapshot, settings_);
  learner_->restore_from(snapshot);
  episodes_ = snapshot.integer("offpolicy/episodes");
  env_steps_ = snapshot.integer("offpolicy/env_steps");
  rounds_ = snapshot.integer("offpolicy/rounds");
  updates_ = snapshot.integer("offpolicy/updates");
  owed_steps_ = snapshot.integer("offpolicy/owed_steps");
  selection_.restore(0.0, snapshot.tensor("offpolicy/best_scores"));
  experience_.restore_from(snapshot, progress());
}

void check_new_run(const config::Config& config) {
  const std::string& from = config.run.init_from;
  if (from.empty()) return;
  (void)starting_checkpoint(from, config.extension<OffPolicy>().init_episode);
}

/// From here on run.init_from is a checkpoint. A run that goes on does not need it any more.
TrainingEnd resolve_start(const Preparation& preparation) {
  config::Config& config = preparation.config;
  std::int64_t& episode = config.extension<OffPolicy>().init_episode;
  if (!std::filesystem::is_directory(config.run.init_from)) return TrainingEnd::kDone;
  try {
    config.run.init_from = starting_checkpoint(config.run.init_from, episode);
    episode = 0;
  } catch (const CheckpointError& error) {
    spdlog::warn("{}", error.what());  // a new run was refused before
  }
  return TrainingEnd::kDone;
}

}  // namespace
}  // namespace offpolicy

TrainingRow snakes_training() {
  return {
      .facts = {.name = "snakes",
                .number = "",
                .folder = "snakes",
                .help = "3v3 snakes, off-policy from a replay of its own games",
                .product = "Player",
                .about = "Plays the game 3v3 snakes: from what a snake sees (61 numbers) to the "
                         "direction that it takes.",
                .of_traffic = false,
                .starts_from = {},
                .sections = {"offpolicy", "game"},
                .presets = offpolicy::presets()},
      .make = [](Run& run) -> std::unique_ptr<Training> {
        offpolicy::check_settings(run.config().extension<offpolicy::OffPolicy>(),
                                  run.config().extension<offpolicy::Snakes>(),
                                  run.session().size());
        return std::make_unique<offpolicy::SnakesTraining>(run);
      },
      .check_new = offpolicy::check_new_run,
      .own_sections = offpolicy::own_sections(),
      .prepare = offpolicy::resolve_start};
}

}  // namespace traffic::train
