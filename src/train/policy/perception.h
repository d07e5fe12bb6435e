/// From observed frames to what the controller reads: features, encodings, latents.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>
#include <vector>

#include "policy/frames.h"
#include "policy/pooling.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/model/controller.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/world_model.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/action.h"

namespace traffic::train {

/// Which of vehicles.inputs are given.
struct InputGroups {
  bool features = false;
  bool globals = false;
  bool encoding = false;
  bool pooled = false;
  bool latents = false;

  explicit InputGroups(const std::vector<std::string>& names);
  [[nodiscard]] bool any_encoding() const { return encoding || pooled || latents; }
};

/// What the world model remembers of the connected vehicles of one simulation: it is asked about
/// nobody else.
struct RecurrentState {
  std::vector<std::uint32_t> vehicle_id;  ///< [V] ascending
  model::LstmState state;                 ///< of these vehicles
};

/// One simulation's answer, and where its memory is kept.
struct ObservationInput {
  const rollout::Period* period = nullptr;
  RecurrentState* memory = nullptr;
};

/// B observations; M candidates in all, C conflicts in each. All on the CPU.
struct ObservationBatch {
  torch::Tensor own;                        ///< [M, own]
  torch::Tensor shared;                     ///< [B, shared]
  torch::Tensor conflict;                   ///< [B, C, conflict]
  std::vector<std::int64_t> candidate_ptr;  ///< [B + 1]

  [[nodiscard]] std::int64_t num_states() const {
    return static_cast<std::int64_t>(candidate_ptr.size()) - 1;
  }
};

/// The part of it that belongs to one simulation.
struct Observation {
  torch::Tensor own;       ///< [M, own]
  torch::Tensor shared;    ///< [1, shared]
  torch::Tensor conflict;  ///< [C, conflict]
};
Observation part_of(const ObservationBatch& batch, std::int64_t b);

/// The frozen part of the model. Runs under InferenceMode, once for every observation.
class Perception {
 public:
  /// Random weights from run.seed. @param conflicts C, the conflicts of the road, 1 with global
  /// credit
  Perception(const config::Config& config, std::int64_t conflicts, torch::Device device);

  [[nodiscard]] const model::ControllerInputs& widths() const { return widths_; }
  [[nodiscard]] std::int64_t conflicts() const { return conflicts_; }
  /// Of the parts that are used, by their names in checkpoints.
  [[nodiscard]] comm::NamedTensors parameters() const;
  /// To be called when the parameters have their values: rearranges them for speed.
  void freeze();

  /// Takes the frames of each period in, oldest first. A period without frames is not allowed.
  ObservationBatch observe(std::span<const ObservationInput> sightings);

 private:
  /// The N vehicles of the last frames, and the V connected ones among them: nobody asks for the
  /// encodings of others.
  struct Encoded {
    torch::Tensor nodes;                      ///< [N, F] normalised
    std::vector<std::int64_t> connected;      ///< [V] their rows among all; empty without encodings
    std::vector<std::int64_t> connected_ptr;  ///< [B + 1]
    torch::Tensor encoding;                   ///< [V, hidden], on the CPU; undefined if not wanted
    torch::Tensor hidden;  ///< [V, lstm_hidden], on the device; undefined if not wanted
  };
  [[nodiscard]] Encoded encode(std::span<const ObservationInput> sightings);
  /// Carries the world model on by one frame of each of some simulations.
  /// @param encoding [V, hidden] of the connected vehicles of these frames
  /// @return [V, lstm_hidden]
  torch::Tensor remember(std::span<RecurrentState* const> memories,
                         const ConnectedVehicles& connected, std::size_t first_frame,
                         const torch::Tensor& encoding);
  /// What is known of the last frames, from which observations are written.
  struct Known {
    std::vector<const scene::FrameView*> last;
    std::vector<std::int64_t> node_ptr;  ///< [B + 1]
    Candidates candidates;
    Encoded encoded;
    std::vector<std::int64_t> candidate;  ///< [M] their places among the connected vehicles, if
                                          ///< these are encoded
    torch::Tensor latents;                ///< [M, impact], on the CPU; undefined if not wanted
    std::vector<std::size_t> advised;     ///< [M] places among the commands; empty without advisor
  };
  void write_own(const Known& known, const torch::Tensor& own) const;
  void write_shared(const Known& known, const torch::Tensor& shared) const;
  void write_conflicts(const Known& known, const ObservationBatch& batch) const;

  InputGroups groups_;
  std::vector<scene::CommandKind> commands_;  ///< that may be advised; empty without an advisor
  std::int64_t conflicts_;
  torch::Device device_;
  model::ControllerInputs widths_;
  model::GraphEncoder encoder_{nullptr};
  model::WorldModel world_model_{nullptr};
  model::LstmState unseen_;  ///< of a vehicle that has just appeared
};

}  // namespace traffic::train
