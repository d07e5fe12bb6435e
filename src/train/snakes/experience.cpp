#include "snakes/experience.h"

#include <algorithm>
#include <span>

#include "run/together.h"

namespace traffic::train::snakes {
namespace {

/// Writes the action vectors of the opponents, behind those of the agents. The learner did not
/// choose the opponents' actions, so their vectors are one-hot vectors of the actions taken.
void fill_vectors_of_opponents(const SnakesGames& games, std::size_t width,
                               std::span<float> vectors) {
  const auto first = static_cast<std::size_t>(games.num_agents());
  std::ranges::fill(vectors.subspan(first * width), 0.0F);
  for (std::size_t stream = first; stream < games.actions().size(); ++stream) {
    vectors[stream * width + games.actions()[stream]] = 1.0F;
  }
}

}  // namespace

Experience::Experience(const Setting& setting, offpolicy::MlpLearner& learner)
    : setting_(setting),
      learner_(learner),
      acting_{.network = learner.policy(), .first_score = learner.first_score()},
      games_(setting.snakes, {.rank = setting.communicator.rank(), .seed = setting.seed}),
      past_selves_(setting.snakes, acting_),
      replay_({.learning = setting.learning,
               .seed = setting.seed,
               .communicator = setting.communicator},
              {.count = games_.num_streams(),
               .obs_dim = games_.spaces().obs_dim,
               .action_dim = learner.action_dim()}),
      actions_(static_cast<std::size_t>(games_.num_agents())),
      vectors_(static_cast<std::size_t>(games_.num_streams() * learner.action_dim())) {}

void Experience::start(TrainingProgress progress) {
  progress.has_past_selves = !past_selves_.empty();
  games_.start(progress);
}

void Experience::begin_round(TrainingProgress progress, std::int64_t round) {
  progress.has_past_selves = !past_selves_.empty();
  if (progress.has_past_selves)
    past_selves_.pick(replay_.rng_of(kPastSelfStream, round).next_u64());
  games_.begin_round(progress);
}

void Experience::step(double epsilon) {
  const auto simulating = setting_.time_split.measure(TimeShare::kSimulate);
  const torch::Tensor& obs = games_.observe();
  act(obs, epsilon);
  games_.step(actions_, past_selves_.playing());
  const auto width = static_cast<std::size_t>(learner_.action_dim());
  if (width > 0) fill_vectors_of_opponents(games_, width, vectors_);
  replay_.push({.obs = {obs.const_data_ptr<float>(),
                        static_cast<std::size_t>(games_.num_streams() * obs.size(1))},
                .actions = games_.actions(),
                .action_vectors = vectors_,
                .rewards = games_.rewards(),
                .ends = games_.ends()});
  ++steps_;
}

void Experience::act(const torch::Tensor& obs, double epsilon) {
  const auto inferring = setting_.time_split.measure(TimeShare::kInfer);
  Rng rng = replay_.rng_of(kExplorationStream, steps_);
  const std::size_t numbers = actions_.size() * static_cast<std::size_t>(learner_.action_dim());
  offpolicy::explore(acting_, obs.narrow(0, 0, games_.num_agents()),
                     {.epsilon = epsilon, .samples = learner_.samples()}, rng, actions_,
                     std::span(vectors_).first(numbers));
}

void Experience::save_to(checkpoint::Snapshot& snapshot) const {
  past_selves_.save_to(snapshot);
  replay_.save_to(snapshot, games_.to_bytes());
  snapshot.put_int("offpolicy/steps", steps_);
}

void Experience::restore_from(const checkpoint::Snapshot& snapshot,
                              const TrainingProgress& progress) {
  past_selves_.restore_from(snapshot);
  steps_ = snapshot.integer("offpolicy/steps");
  offpolicy::RankState::Restored restored;
  together(setting_.communicator, [&] {
    restored = replay_.restore_from(snapshot);
    if (restored.same_ranks) games_.from_bytes(restored.games);
  });
  if (!restored.same_ranks) start(progress);
}

}  // namespace traffic::train::snakes
