#include "offpolicy/learner.h"

#include "offpolicy/ddpg.h"
#include "offpolicy/dqn.h"
#include "offpolicy/sac.h"

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

void Learner::update_targets(std::int64_t update) {
  if (settings_.tau > 0.0) {
    networks_.update_targets(settings_.tau);
  } else if ((update + 1) % settings_.target_interval == 0) {
    networks_.update_targets(1.0);
  }
}

PolicyShape policy_shape(const OffPolicy& settings, const Spaces& spaces) {
  if (settings.learner == "dqn") {
    return {.name = "q",
            .shape = network_shape(settings, spaces.obs_dim, 1 + spaces.num_actions),
            .first_score = 1};
  }
  return {.name = "actor", .shape = network_shape(settings, spaces.obs_dim, spaces.num_actions)};
}

std::unique_ptr<Learner> make_learner(const OffPolicy& settings, const Spaces& spaces,
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
