#include "offpolicy/mlp_learner.h"

#include <utility>

#include "offpolicy/ddpg.h"
#include "offpolicy/dqn.h"
#include "offpolicy/sac.h"
#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/model/initialise.h"

namespace traffic::train::offpolicy {
namespace {

model::MlpShape network_shape(const OffPolicy& settings, std::int64_t inputs,
                              std::int64_t outputs) {
  return {.inputs = inputs,
          .hidden = std::vector<std::int64_t>(static_cast<std::size_t>(settings.layers),
                                              settings.hidden_dim),
          .outputs = outputs};
}

}  // namespace

MlpLearner::MlpLearner(const OffPolicy& settings, std::vector<Pair> pairs,
                       comm::Communicator& communicator)
    : Learner(settings, trained(pairs), communicator), pairs_(std::move(pairs)) {}

std::vector<MlpLearner::Pair> MlpLearner::make_pairs(const std::vector<NetworkSpec>& specs,
                                                     std::uint64_t seed, torch::Device device) {
  std::vector<Pair> pairs;
  for (const NetworkSpec& spec : specs) {
    Pair pair{.spec = spec, .online = model::Mlp(spec.shape), .target = model::Mlp(spec.shape)};
    model::initialise(*pair.online, derive_seed(seed, {xxh3_64(spec.name)}));
    pair.online->to(device);
    pair.target->to(device);
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

std::vector<TrainedNetwork> MlpLearner::trained(const std::vector<Pair>& pairs) {
  std::vector<TrainedNetwork> networks;
  for (const Pair& pair : pairs) {
    networks.push_back({.name = pair.spec.name,
                        .online = pair.online.ptr(),
                        .target = pair.target.ptr(),
                        .learning_rate_key = pair.spec.learning_rate_key});
  }
  return networks;
}

PolicyShape policy_shape(const OffPolicy& settings, const Spaces& spaces) {
  if (settings.learner == "dqn") {
    return {.name = "q",
            .shape = network_shape(settings, spaces.obs_dim, 1 + spaces.num_actions),
            .first_score = 1};
  }
  return {.name = "actor", .shape = network_shape(settings, spaces.obs_dim, spaces.num_actions)};
}

std::unique_ptr<MlpLearner> make_learner(const OffPolicy& settings, const Spaces& spaces,
                                         std::uint64_t seed, comm::Communicator& communicator) {
  if (settings.learner == "ddpg") {
    return std::make_unique<Ddpg>(settings, spaces, seed, communicator);
  }
  if (settings.learner == "sac") {
    return std::make_unique<Sac>(settings, spaces, seed, communicator);
  }
  return std::make_unique<Dqn>(settings, spaces, seed, communicator);
}

}  // namespace traffic::train::offpolicy
