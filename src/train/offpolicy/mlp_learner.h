/// The base class of the learners Dqn, Ddpg and Sac, whose networks are multilayer perceptrons. One
/// of these networks is the policy.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "offpolicy/learner.h"
#include "traffic/model/mlp.h"

namespace traffic::train::offpolicy {

/// Sizes of observations and of the set of actions.
struct Spaces {
  std::int64_t obs_dim = 1;
  std::int64_t num_actions = 2;
};

/// Description of a network of a learner.
struct NetworkSpec {
  std::string name;  ///< such as "critic"
  model::MlpShape shape;
  std::string learning_rate_key;  ///< configuration key of its learning rate, for messages
};

/// Each network exists twice: the online network, which is trained, and its target network.
class MlpLearner : public Learner {
 public:
  /// The network that acts.
  [[nodiscard]] virtual model::Mlp& policy() = 0;
  /// Index of the policy's first output that is the score of an action.
  [[nodiscard]] virtual std::int64_t first_score() const { return 0; }
  /// Whether exploring actions are drawn from the softmax of the scores. Otherwise the action with
  /// the highest score is taken.
  [[nodiscard]] virtual bool samples() const = 0;
  /// Size of the vector that the replay stores for an action in addition to its index; 0 means that
  /// it stores no vector.
  [[nodiscard]] virtual std::int64_t action_dim() const { return 0; }

  [[nodiscard]] model::Mlp& online(std::size_t i) { return pairs_[i].online; }
  [[nodiscard]] model::Mlp& target(std::size_t i) { return pairs_[i].target; }

 protected:
  /// Collective. Initial weights depend only on the seed and the networks' names, so that they are
  /// the same on all ranks.
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

/// Name and shape of the network that acts, and the index of its first score.
struct PolicyShape {
  std::string name;
  model::MlpShape shape;
  std::int64_t first_score = 0;
};
/// Computes the shape from the settings alone; no learner is constructed.
PolicyShape policy_shape(const OffPolicy& settings, const Spaces& spaces);

/// Collective. Makes the learner that offpolicy.learner names.
std::unique_ptr<MlpLearner> make_learner(const OffPolicy& settings, const Spaces& spaces,
                                         std::uint64_t seed, comm::Communicator& communicator);

}  // namespace traffic::train::offpolicy
