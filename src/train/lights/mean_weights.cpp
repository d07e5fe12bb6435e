#include "lights/mean_weights.h"

#include <algorithm>
#include <utility>

#include "run/snapshot_parts.h"

namespace traffic::train::lights {
namespace {

constexpr const char* kLearned = "lights/learning_weights";

/// Share of an iteration in the mean: equal shares for the first ten iterations, then 1/10.
double share_in_mean(std::int64_t iteration) {
  constexpr double kIterations = 10.0;
  return 1.0 / std::min(kIterations, static_cast<double>(iteration + 1));
}

}  // namespace

WeightsInUse::WeightsInUse(torch::Tensor flat, const torch::Tensor& others)
    : flat_(std::move(flat)), kept_(flat_.clone()) {
  flat_.copy_(others);
}

MeanWeights::MeanWeights(const comm::ParameterArena& learned)
    : learned_(learned), mean_(learned.flat().detach().clone()) {}

void MeanWeights::add(std::int64_t iteration) {
  mean_.lerp_(learned_.flat().detach(), share_in_mean(iteration));
}

void MeanWeights::start_from(const checkpoint::Snapshot& snapshot) {
  copy_parameters(snapshot, learned_.parameters());
  mean_.copy_(learned_.flat().detach());
}

void MeanWeights::restore_from(const checkpoint::Snapshot& snapshot) {
  start_from(snapshot);
  const torch::NoGradGuard no_grad;
  snapshot.copy_tensor(kLearned, learned_.flat());
}

void MeanWeights::save_to(checkpoint::Snapshot& snapshot) const {
  snapshot.put_tensor(kLearned, learned_.flat().detach());
  comm::NamedTensors mean;
  for (const comm::ArenaEntry& entry : learned_.entries()) {
    mean.emplace_back(entry.name, comm::view_of(mean_, entry));
  }
  put_parameters(snapshot, mean);
}

}  // namespace traffic::train::lights
