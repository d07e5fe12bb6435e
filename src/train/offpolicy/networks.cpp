#include "offpolicy/networks.h"

#include <utility>

#include "optim/minibatch_step.h"
#include "run/snapshot_parts.h"
#include "traffic/rl/target_update.h"

namespace traffic::train::offpolicy {
namespace {

void add_parameters(const std::string& name, const torch::nn::Module& network,
                    comm::NamedTensors& all) {
  for (const auto& parameter : network.named_parameters()) {
    all.emplace_back(name + "." + parameter.key(), parameter.value());
  }
}

/// Index range [first, second) of a network's parameters in an arena.
std::pair<std::int64_t, std::int64_t> bounds_of(const comm::ParameterArena& arena,
                                                const std::string& name) {
  std::int64_t begin = -1;
  std::int64_t end = arena.flat().numel();
  for (const comm::ArenaEntry& entry : arena.entries()) {
    const bool is_own = entry.name.starts_with(name + ".");
    if (is_own && begin < 0) begin = entry.offset;
    if (!is_own && begin >= 0) {
      end = entry.offset;
      break;
    }
  }
  return {begin, end};
}

}  // namespace

Networks::Networks(const std::vector<TrainedNetwork>& networks, comm::Communicator& communicator) {
  comm::NamedTensors online;
  comm::NamedTensors target;
  for (const TrainedNetwork& network : networks) {
    names_.push_back(network.name);
    for (auto& parameter : network.target->parameters()) parameter.requires_grad_(false);
    add_parameters(network.name, *network.online, online);
    add_parameters(network.name, *network.target, target);
  }
  parameters_ = std::make_unique<comm::ParameterArena>(std::move(online));
  target_parameters_ = std::make_unique<comm::ParameterArena>(std::move(target));
  gradients_ = std::make_unique<comm::GradientArena>(*parameters_, communicator);
  update_targets(1.0);
  for (const TrainedNetwork& network : networks) {
    const auto [begin, end] = bounds_of(*parameters_, network.name);
    optimisers_.emplace_back(ParameterSlice{.name = network.name,
                                            .learning_rate_key = network.learning_rate_key,
                                            .parameters = parameters_->flat().slice(0, begin, end),
                                            .gradients = gradients_->flat().slice(0, begin, end)},
                             communicator);
  }
}

std::vector<double> Networks::step(const std::vector<double>& learning_rates, double clip_norm,
                                   const std::function<void()>& backward) {
  TRAFFIC_CHECK(learning_rates.size() == optimisers_.size(),
                "found {} learning rates for {} networks, expected one for each",
                learning_rates.size(), optimisers_.size());
  std::vector<OptimiserStep> steps;
  for (std::size_t i = 0; i < optimisers_.size(); ++i) {
    steps.push_back({.optimiser = optimisers_[i], .learning_rate = learning_rates[i]});
  }
  minibatch_step(*gradients_, steps, clip_norm, [&] {
    backward();
    return true;
  });
  std::vector<double> norms;
  for (const OptimiserStep& step : steps) norms.push_back(step.norm);
  return norms;
}

void Networks::update_targets(double tau) {
  rl::soft_update(target_parameters_->flat(), parameters_->flat(), tau);
}

std::int64_t Networks::skipped_steps() const {
  std::int64_t total = 0;
  for (const SliceOptimiser& optimiser : optimisers_) total += optimiser.skipped_steps();
  return total;
}

void Networks::save_to(checkpoint::Snapshot& snapshot) const {
  put_parameters(snapshot, parameters_->parameters());
  save_learning_to(snapshot);
}

void Networks::save_learning_to(checkpoint::Snapshot& snapshot) const {
  for (const auto& [name, parameter] : target_parameters_->parameters()) {
    snapshot.put_tensor("target/" + name, parameter);
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    optimisers_[i].save_to(snapshot, "optimizer/" + names_[i]);
  }
}

void Networks::restore_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, parameters_->parameters());
  restore_learning_from(snapshot);
}

void Networks::restore_learning_from(const checkpoint::Snapshot& snapshot) {
  const torch::NoGradGuard no_grad;
  for (const auto& [name, parameter] : target_parameters_->parameters()) {
    snapshot.copy_tensor("target/" + name, parameter);
  }
  for (std::size_t i = 0; i < names_.size(); ++i) {
    optimisers_[i].restore_from(snapshot, "optimizer/" + names_[i]);
  }
}

}  // namespace traffic::train::offpolicy
