/// Measures the parts of learning 3v3 snakes on one core: the processor time of a step of the
/// games, of a draw from the replay and of an update. The last benchmark runs all parts in the
/// proportions of configs/snakes.toml.
#include <ATen/Parallel.h>
#include <benchmark/benchmark.h>

#include <string>

#include "support/alone_communicator.h"
#include "train/snakes/experience.h"

namespace traffic::train::snakes {
namespace {

/// The state of one learning rank, whose replay already has enough data for updates.
class Rank {
 public:
  explicit Rank(const std::string& learner) {
    at::set_num_threads(1);
    learning_.learner = learner;
    learner_ =
        offpolicy::make_learner(learning_, SnakesGames::spaces_of(snakes_), 1, communicator_);
    experience_ = std::make_unique<Experience>(Experience::Setting{.learning = learning_,
                                                                   .snakes = snakes_,
                                                                   .seed = 1,
                                                                   .communicator = communicator_,
                                                                   .time_split = time_split_},
                                               *learner_);
    experience_->start({});
    experience_->begin_round({}, 0);
    while (experience_->replay().num_transitions() < learning_.buffer_size - 100 * snakes_.games)
      step();
  }

  void step() { experience_->step(0.05); }
  const offpolicy::Batch& draw() {
    Rng rng = experience_->replay().rng_of(kReplayStream, draws_++);
    return experience_->replay().draw(rng);
  }
  void update(const offpolicy::Batch& batch) {
    Rng rng(1);
    learner_->update(batch, {.update = updates_++,
                             .total_batch = static_cast<double>(learning_.batch_size),
                             .rng = rng});
  }
  [[nodiscard]] const offpolicy::OffPolicy& learning() const { return learning_; }
  [[nodiscard]] const Snakes& snakes() const { return snakes_; }

 private:
  offpolicy::OffPolicy learning_;
  Snakes snakes_;
  test::AloneCommunicator communicator_;
  TimeSplit time_split_;
  std::unique_ptr<offpolicy::MlpLearner> learner_;
  std::unique_ptr<Experience> experience_;
  std::int64_t draws_ = 0;
  std::int64_t updates_ = 0;
};

void play(benchmark::State& state) {
  Rank rank("dqn");
  for (auto _ : state) rank.step();
  state.SetItemsProcessed(state.iterations() * rank.snakes().games);
}
BENCHMARK(play)->Name("play/env_steps");

void draw(benchmark::State& state) {
  Rank rank("dqn");
  for (auto _ : state) benchmark::DoNotOptimize(rank.draw());
  state.SetItemsProcessed(state.iterations() * rank.learning().batch_size);
}
BENCHMARK(draw)->Name("draw/transitions");

void update(benchmark::State& state, const std::string& learner) {
  Rank rank(learner);
  const offpolicy::Batch& batch = rank.draw();
  for (auto _ : state) rank.update(batch);
  state.SetItemsProcessed(state.iterations() * rank.learning().batch_size);
}
BENCHMARK_CAPTURE(update, dqn, "dqn")->Name("update/dqn/transitions");
BENCHMARK_CAPTURE(update, ddpg, "ddpg")->Name("update/ddpg/transitions");
BENCHMARK_CAPTURE(update, sac, "sac")->Name("update/sac/transitions");

/// The game steps between two updates, and one update.
void learn(benchmark::State& state, const std::string& learner) {
  Rank rank(learner);
  const std::int64_t steps = rank.learning().update_interval / rank.snakes().games;
  for (auto _ : state) {
    for (std::int64_t i = 0; i < steps; ++i) rank.step();
    rank.update(rank.draw());
  }
  state.SetItemsProcessed(state.iterations() * rank.learning().update_interval);
}
BENCHMARK_CAPTURE(learn, dqn, "dqn")->Name("learn/dqn/env_steps");
BENCHMARK_CAPTURE(learn, ddpg, "ddpg")->Name("learn/ddpg/env_steps");
BENCHMARK_CAPTURE(learn, sac, "sac")->Name("learn/sac/env_steps");

}  // namespace
}  // namespace traffic::train::snakes

BENCHMARK_MAIN();
