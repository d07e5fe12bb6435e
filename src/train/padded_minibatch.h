/// A minibatch of phase 2 whose shapes do not depend on what is in it.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "fixed_tensors.h"
#include "loss_terms.h"

namespace traffic::train {

/// How many of each there are, or may be.
struct MinibatchSize {
  std::int64_t states = 0;
  std::int64_t candidates = 0;
  std::int64_t decisions = 0;

  [[nodiscard]] bool holds(const MinibatchSize& other) const {
    return states >= other.states && candidates >= other.candidates && decisions >= other.decisions;
  }
};
/// The largest number of each among these sets of states.
MinibatchSize largest_of(const Experience& experience, const std::vector<torch::Tensor>& parts);

/// Everything that the loss of a minibatch is computed from: B states, M candidates, D decisions, C
/// conflicts and K picks at most. Behind what is there, padding: states without picks and without
/// conflicts, of which the last one has the candidates that are too many, and decisions that do not
/// count. It has weight zero in every sum of the loss.
struct MinibatchTensors : LossTerms {
  torch::Tensor own;              ///< [M, own]
  torch::Tensor shared;           ///< [B, shared]
  torch::Tensor candidate_ptr;    ///< [B + 1] int64
  torch::Tensor candidate_state;  ///< [M] int64
  torch::Tensor picks;            ///< [B, K] int64
  torch::Tensor row;              ///< [D] int64
  torch::Tensor action;           ///< [D]
  torch::Tensor lane;             ///< [D] int64
  torch::Tensor denominators;     ///< [rl::kNumDenominators]
};

class PaddedMinibatch {
 public:
  explicit PaddedMinibatch(torch::Device device) : device_(device) {}

  [[nodiscard]] bool has_room_for(const MinibatchSize& needed) const;
  /// Makes room for minibatches of this size, and for somewhat larger ones: the tensors are others
  /// afterwards. Room is never given up.
  void reserve(const Experience& experience, const MinibatchSize& needed);

  /// What is filled in next; there is room for it.
  struct Part {
    const Experience& experience;
    const PpoTargets& targets;
    const torch::Tensor& states;
    const rl::PpoDenominators& denominators;
  };
  /// The tensors on the device hold this from now on.
  void fill(const Part& part);

  [[nodiscard]] const MinibatchTensors& tensors() const { return on_device_; }
  /// States count one that is always padding.
  [[nodiscard]] const MinibatchSize& capacity() const { return capacity_; }

 private:
  void put_policy_input(const Minibatch& minibatch);

  torch::Device device_;
  MinibatchSize capacity_;
  std::optional<FixedTensors> buffers_;
  MinibatchTensors on_host_;
  MinibatchTensors on_device_;
};

}  // namespace traffic::train
