/// Computes the inputs of the controller of vehicles from the frames of simulations: features,
/// encodings of the encoder, and latents of the world model. A frame is the graph of all vehicles
/// at one time.
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

/// The groups of inputs; each member says whether vehicles.inputs names the group.
struct InputGroups {
  bool features = false;  ///< features of the candidate
  bool globals = false;   ///< features of the whole road
  bool encoding = false;  ///< the encoder's encoding of the candidate
  bool pooled = false;    ///< mean of the encodings of all connected vehicles
  bool latents = false;   ///< the world model's latents of the candidate

  /// @throws ConfigError if no group is named
  explicit InputGroups(const std::vector<std::string>& names);
  /// Whether the encoder is needed.
  [[nodiscard]] bool any_encoding() const { return encoding || pooled || latents; }
};

/// The world model's recurrent state for the connected vehicles of one simulation. Other vehicles
/// have no such state.
struct RecurrentState {
  std::vector<std::uint32_t> vehicle_id;  ///< [V] ascending
  model::LstmState state;                 ///< state of these vehicles, in this order
};

/// The last control period of a simulation, and the world model's memory of that simulation.
struct ObservationInput {
  const rollout::Period* period = nullptr;
  RecurrentState* memory = nullptr;  ///< updated by Perception::observe()
};

/// B observations with M candidates in total and C conflicts each. Candidates are the vehicles that
/// may get a command; conflicts are places where streams of traffic meet. The widths `own`,
/// `shared` and `conflict` are those of model::ControllerInputs. All tensors are on the CPU.
struct ObservationBatch {
  torch::Tensor own;                        ///< [M, own]
  torch::Tensor shared;                     ///< [B, shared]
  torch::Tensor conflict;                   ///< [B, C, conflict]
  std::vector<std::int64_t> candidate_ptr;  ///< [B + 1] first candidate of each observation

  [[nodiscard]] std::int64_t num_states() const {
    return static_cast<std::int64_t>(candidate_ptr.size()) - 1;
  }
};

/// The observation of one simulation, as views of an ObservationBatch.
struct Observation {
  torch::Tensor own;       ///< [M, own]
  torch::Tensor shared;    ///< [1, shared]
  torch::Tensor conflict;  ///< [C, conflict]
};
/// Takes one observation from a batch.
/// @param b index of the observation in the batch
Observation part_of(const ObservationBatch& batch, std::int64_t b);

/// Computes the inputs of the controller with the frozen encoder and world model of phase 1. Its
/// tensors have no gradients (torch::InferenceMode).
class Perception {
 public:
  /// Creates the networks with random weights, drawn from run.seed.
  /// @param conflicts C, the number of conflicts of the road, or 1 if there is one value for the
  ///   whole road
  Perception(const config::Config& config, std::int64_t conflicts, torch::Device device);

  [[nodiscard]] const model::ControllerInputs& widths() const { return widths_; }
  [[nodiscard]] std::int64_t conflicts() const { return conflicts_; }
  /// Parameters of the networks that vehicles.inputs needs, by their names in checkpoints.
  [[nodiscard]] comm::NamedTensors parameters() const;
  /// Prepares the parameters for faster inference. Call it once they have their final values.
  void freeze();

  /// Observes the last frame of each period. The world model reads all frames, oldest first, and
  /// updates the memories.
  /// @throws Error if a period has no frame
  ObservationBatch observe(std::span<const ObservationInput> inputs);

 private:
  /// The N vehicles of the last frames, and the V connected ones among them. Only connected
  /// vehicles have encodings.
  struct Encoded {
    torch::Tensor nodes;                  ///< [N, F] normalised
    std::vector<std::int64_t> connected;  ///< [V] rows in `nodes`; empty if no encodings are used
    /// [B + 1] first connected vehicle of each frame.
    std::vector<std::int64_t> connected_ptr;
    torch::Tensor encoding;  ///< [V, hidden] on the CPU; undefined if unused
    torch::Tensor hidden;    ///< [V, lstm_hidden] on the device; undefined if unused
  };
  [[nodiscard]] Encoded encode(std::span<const ObservationInput> inputs);
  /// Runs one step of the world model on one frame of each of several simulations, and updates
  /// their memories.
  /// @param first_frame index in `connected` of the first of these frames
  /// @param encoding [V, hidden] of the connected vehicles of these frames
  /// @return [V, lstm_hidden]
  torch::Tensor remember(std::span<RecurrentState* const> memories,
                         const ConnectedVehicles& connected, std::size_t first_frame,
                         const torch::Tensor& encoding);
  /// The data from which the observations of the last frames are written.
  struct Known {
    std::vector<const scene::FrameView*> last;  ///< [B] last frame of each simulation
    std::vector<std::int64_t> node_ptr;  ///< [B + 1] first row of each frame in Encoded::nodes
    Candidates candidates;
    Encoded encoded;
    /// [M] index of each candidate among the connected vehicles; empty if no encodings are used.
    std::vector<std::int64_t> candidate;
    torch::Tensor latents;  ///< [M, impact] on the CPU; undefined if unused
    /// [M] index of the advised command; empty if there is no advisor.
    std::vector<std::size_t> advised;
  };
  // Each of these functions fills the tensor of ObservationBatch that its name contains.
  void write_own(const Known& known, const torch::Tensor& own) const;
  void write_shared(const Known& known, const torch::Tensor& shared) const;
  void write_conflicts(const Known& known, const ObservationBatch& batch) const;

  InputGroups groups_;
  /// Commands that may be advised; empty if there is no advisor.
  std::vector<scene::CommandKind> commands_;
  std::int64_t conflicts_;
  torch::Device device_;
  model::ControllerInputs widths_;
  model::GraphEncoder encoder_{nullptr};
  model::WorldModel world_model_{nullptr};
  model::LstmState unseen_;  ///< initial state, for vehicles that have just appeared
};

}  // namespace traffic::train
