/// Networks that are trained, one optimiser each, and the targets that follow them.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "optim/slice_optimiser.h"
#include "traffic/checkpoint/snapshot.h"
#include "traffic/comm/communicator.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/model/mlp.h"

namespace traffic::train::offpolicy {

struct NetworkSpec {
  std::string name;  ///< "critic"
  model::MlpShape shape;
  std::string learning_rate_key;  ///< for messages
};

class Networks {
 public:
  /// Collective. The same weights on all ranks, from the seed and the names alone.
  Networks(const std::vector<NetworkSpec>& specs, std::uint64_t seed,
           comm::Communicator& communicator);

  [[nodiscard]] model::Mlp& online(std::size_t i) { return online_[i]; }
  [[nodiscard]] model::Mlp& target(std::size_t i) { return target_[i]; }
  [[nodiscard]] const comm::ParameterArena& parameters() const { return *parameters_; }

  void zero_grad() { gradients_->zero(); }
  /// Sums a network's gradient over ranks, clips it, updates. Collective.
  /// @return its norm before clipping; 0 where it was not finite: all ranks skip the update
  double step(std::size_t i, double learning_rate, double clip_norm);
  void update_targets(double tau);

  [[nodiscard]] std::int64_t skipped_steps() const;
  /// As "model/<network>...", "target/<network>..." and "optimizer/<network>/...".
  void save_to(checkpoint::Snapshot& snapshot) const;
  /// @throws CheckpointError if a part is missing or has another shape
  void restore_from(const checkpoint::Snapshot& snapshot);

 private:
  std::vector<std::string> names_;
  std::vector<model::Mlp> online_;
  std::vector<model::Mlp> target_;
  std::unique_ptr<comm::ParameterArena> parameters_;
  std::unique_ptr<comm::ParameterArena> target_parameters_;
  std::unique_ptr<comm::GradientArena> gradients_;
  std::vector<SliceOptimiser> optimisers_;
};

}  // namespace traffic::train::offpolicy
