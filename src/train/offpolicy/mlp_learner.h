/// Learners whose networks are perceptrons, one of which decides what a player does; there are
/// three.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "offpolicy/learner.h"
#include "traffic/model/mlp.h"

namespace traffic::train::offpolicy {

/// What is seen and done.
struct Spaces {
  std::int64_t obs_dim = 1;
  std::int64_t num_actions = 2;
};

struct NetworkSpec {
  std::string name;  ///< "critic"
  model::MlpShape shape;
  std::string learning_rate_key;  ///< for messages
};

class MlpLearner : public Learner {
 public:
  /// The network that acts, and in which of its outputs the actions' scores begin.
  [[nodiscard]] virtual model::Mlp& policy() = 0;
  [[nodiscard]] virtual std::int64_t first_score() const { return 0; }
  /// Whether actions are drawn by softmax of the scores, rather than the best one taken.
  [[nodiscard]] virtual bool samples() const = 0;
  /// Numbers that are kept of an action beside its index.
  [[nodiscard]] virtual std::int64_t action_dim() const { return 0; }

  [[nodiscard]] model::Mlp& online(std::size_t i) { return pairs_[i].online; }
  [[nodiscard]] model::Mlp& target(std::size_t i) { return pairs_[i].target; }

 protected:
  /// Collective. The same weights on all ranks, from the seed and the names alone.
  MlpLearner(const OffPolicy& settings, const std::vector<NetworkSpec>& specs, std::uint64_t seed,
             comm::Communicator& communicator)
      : MlpLearner(settings, make_pairs(specs, seed, communicator.device()), communicator) {}

 private:
  struct Pair {
    NetworkSpec spec;
    model::Mlp online;
    model::Mlp target;
  };
  MlpLearner(const OffPolicy& settings, std::vector<Pair> pairs, comm::Communicator& communicator);
  static std::vector<Pair> make_pairs(const std::vector<NetworkSpec>& specs, std::uint64_t seed,
                                      torch::Device device);
  static std::vector<TrainedNetwork> trained(const std::vector<Pair>& pairs);

  std::vector<Pair> pairs_;
};

/// The network that acts, by settings alone: its name, its shape, where its scores begin.
struct PolicyShape {
  std::string name;
  model::MlpShape shape;
  std::int64_t first_score = 0;
};
PolicyShape policy_shape(const OffPolicy& settings, const Spaces& spaces);

/// Collective. By offpolicy.learner.
std::unique_ptr<MlpLearner> make_learner(const OffPolicy& settings, const Spaces& spaces,
                                         std::uint64_t seed, comm::Communicator& communicator);

}  // namespace traffic::train::offpolicy
