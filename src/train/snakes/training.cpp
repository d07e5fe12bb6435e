#include "traffic/train/snakes/training.h"

#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "offpolicy/mlp_learner.h"
#include "offpolicy/start.h"
#include "offpolicy/updates.h"
#include "run/selection.h"
#include "run/snapshot_parts.h"
#include "snakes/experience.h"
#include "snakes/selection_games.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace snakes {
namespace {

/// The training on this rank. It learns on the CPU, because for networks of this size launching an
/// update on a GPU takes longer than computing it on the CPU.
class SnakesTraining final : public Training {
 public:
  explicit SnakesTraining(Run& run)
      : run_(run),
        settings_(run.config().extension<offpolicy::OffPolicy>()),
        snakes_(run.config().extension<Snakes>()),
        seed_(static_cast<std::uint64_t>(run.config().run.seed)),
        communicator_(run.communicator().host()),
        learner_(offpolicy::make_learner(settings_, SnakesGames::spaces_of(snakes_),
                                         derive_seed(seed_, {kNetworkStream}), communicator_)),
        experience_({.learning = settings_,
                     .snakes = snakes_,
                     .seed = seed_,
                     .communicator = communicator_,
                     .time_split = time_split_},
                    *learner_),
        updates_({.settings = settings_,
                  .communicator = communicator_,
                  .time_split = time_split_,
                  .learner = *learner_,
                  .replay = experience_.replay()}) {}

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
    return experience_.replay().bytes_of_parts();
  }
  [[nodiscard]] MemoryNeeds memory_needs() const override {
    return {.host = experience_.replay().bytes()};
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
  [[nodiscard]] double share_done() const {
    return static_cast<double>(episodes_) / static_cast<double>(settings_.max_episodes);
  }
  report::NamedValues figures_of_round();
  [[nodiscard]] SelectionScores play_selection();

  Run& run_;
  const offpolicy::OffPolicy settings_;
  const Snakes snakes_;
  std::uint64_t seed_;
  comm::Communicator& communicator_;
  std::unique_ptr<offpolicy::MlpLearner> learner_;
  Experience experience_;
  offpolicy::Updates updates_;
  std::int64_t episodes_ = 0;   ///< summed over all ranks
  std::int64_t env_steps_ = 0;  ///< summed over all ranks
  std::int64_t rounds_ = 0;
  Selection selection_;
};

void SnakesTraining::start() {
  const std::string& from = run_.config().run.init_from;
  if (!from.empty()) {
    const checkpoint::Snapshot snapshot =
        checkpoint::load(offpolicy::starting_checkpoint(from, settings_.init_episode));
    check_training(snapshot, run_.facts());
    offpolicy::check_learner_kind(snapshot, settings_);
    learner_->restore_from(snapshot);
    spdlog::info("starting from {} (episode {}): loaded networks, targets and optimisers",
                 snapshot.source(), snapshot.step());
  }
  comm::check_replicas_equal(communicator_, parameters().flat(), "the parameters at the start");
  experience_.start(progress());
}

/// Plays a round: the maximum number of steps of a game, with updates between them.
std::optional<Iteration> SnakesTraining::iterate() {
  fault::hit("train.step", communicator_.rank(), rounds_);
  experience_.begin_round(progress(), rounds_);
  const std::int64_t env_steps = snakes_.games * communicator_.size();
  for (int step = 0; step < game::kMaxSteps; ++step) {
    experience_.step(offpolicy::epsilon_after(settings_, env_steps_));
    env_steps_ += env_steps;
    updates_.after({.env_steps = env_steps,
                    .transitions = experience_.replay().num_transitions(),
                    .progress = share_done()});
  }
  ++rounds_;
  const std::int64_t before = episodes_;
  report::NamedValues figures = figures_of_round();
  experience_.keep_self(before, episodes_);
  const report::NamedValues shown{figures.front()};
  return Iteration{
      .items = game::kMaxSteps * env_steps,
      .loss = offpolicy::watched_loss(figures),
      .evaluation_due = before / settings_.eval_interval != episodes_ / settings_.eval_interval,
      .metrics = std::move(figures),
      .shown = shown};
}

/// Metrics of the round over all ranks. Adds the games that ended to the number of episodes.
report::NamedValues SnakesTraining::figures_of_round() {
  const GameFigures played = experience_.take_figures();
  const torch::Tensor all =
      torch::tensor({played.games, played.score, played.own_length, played.other_length,
                     static_cast<double>(experience_.replay().num_transitions())},
                    torch::kDouble);
  communicator_.all_reduce(all);
  const double* sum = all.const_data_ptr<double>();
  episodes_ += std::llround(sum[0]);
  const double games = std::max(1.0, sum[0]);
  report::NamedValues figures{{"rollout/win_percent", 100.0 * sum[1] / games},
                              {"rollout/own_growth", sum[2] / games},
                              {"rollout/other_growth", sum[3] / games},
                              {"replay/transitions", sum[4]},
                              {"train/epsilon", offpolicy::epsilon_after(settings_, env_steps_)},
                              {"train/learning_rate", updates_.learning_rate(share_done())},
                              {"train/updates", static_cast<double>(updates_.count())}};
  for (auto& figure : updates_.take_figures()) figures.push_back(std::move(figure));
  return figures;
}

SelectionScores SnakesTraining::play_selection() {
  return play_selection_games(
      {.network = learner_->policy(), .first_score = learner_->first_score()},
      {.seed = seed_, .sight = Sight::of(snakes_), .games = settings_.eval_games}, communicator_);
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
  summary.result["updates"] = updates_.count();
  spdlog::info(
      "to compare the player on other games, run traffic_eval --controller checkpoint:{} --against "
      "bfs",
      run_.best_path().string());
}

void SnakesTraining::save_to(checkpoint::Snapshot& snapshot) const {
  comm::check_replicas_equal(communicator_, parameters().flat(), "the parameters to be saved");
  learner_->save_to(snapshot);
  offpolicy::put_learner_kind(snapshot, settings_);
  experience_.save_to(snapshot);
  snapshot.put_int("offpolicy/episodes", episodes_);
  snapshot.put_int("offpolicy/env_steps", env_steps_);
  snapshot.put_int("offpolicy/rounds", rounds_);
  updates_.save_to(snapshot);
  snapshot.put_tensor("offpolicy/best_scores", selection_.best_gains());
}

void SnakesTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  offpolicy::check_learner_kind(snapshot, settings_);
  learner_->restore_from(snapshot);
  episodes_ = snapshot.integer("offpolicy/episodes");
  env_steps_ = snapshot.integer("offpolicy/env_steps");
  rounds_ = snapshot.integer("offpolicy/rounds");
  updates_.restore_from(snapshot);
  selection_.restore(0.0, snapshot.tensor("offpolicy/best_scores"));
  experience_.restore_from(snapshot, progress());
}

void check_new_run(const config::Config& config) {
  const std::string& from = config.run.init_from;
  if (from.empty()) return;
  (void)offpolicy::starting_checkpoint(from, config.extension<offpolicy::OffPolicy>().init_episode);
}

/// If run.init_from is a run folder, replaces it by the checkpoint of this run to start from. If
/// the checkpoint is missing, this function only warns, because a resumed run does not need it any
/// more.
TrainingEnd resolve_start(const Preparation& preparation) {
  config::Config& config = preparation.config;
  std::int64_t& episode = config.extension<offpolicy::OffPolicy>().init_episode;
  if (!std::filesystem::is_directory(config.run.init_from)) return TrainingEnd::kDone;
  try {
    config.run.init_from = offpolicy::starting_checkpoint(config.run.init_from, episode);
    episode = 0;
  } catch (const CheckpointError& error) {
    // This is a resumed run: check_new_run() would have refused a new one.
    spdlog::warn("{}", error.what());
  }
  return TrainingEnd::kDone;
}

}  // namespace
}  // namespace snakes

TrainingRow snakes_training() {
  return {
      .facts = {.name = "snakes",
                .number = "",
                .folder = "snakes",
                .help = "3v3 snakes, off-policy from a replay of its own games",
                .product = "Player",
                .about = "Plays the game 3v3 snakes: maps the observation of a snake to its next "
                         "direction.",
                .of_traffic = false,
                .starts_from = {},
                .sections = {"offpolicy", "game"},
                .presets = snakes::presets()},
      .make = [](Run& run) -> std::unique_ptr<Training> {
        offpolicy::check_settings(run.config().extension<offpolicy::OffPolicy>(),
                                  run.session().size());
        snakes::check_settings(run.config().extension<snakes::Snakes>());
        return std::make_unique<snakes::SnakesTraining>(run);
      },
      .check_new = snakes::check_new_run,
      .own_sections = snakes::own_sections(),
      .prepare = snakes::resolve_start};
}

}  // namespace traffic::train
