/// WorldModel, the network that predicts the motion of each vehicle from the graph encoder's
/// encodings of it over time. Phase 1 trains it; the controller of phases 2 and 3 may take its
/// latents as input.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/container/sequential.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/model/lstm.h"

namespace traffic::model {

struct DenseParameters;

/// Predictions for S vehicles and the H frames of the horizon. The columns of motion are residuals
/// (targets.h) of displacement, speed, acceleration and lane.
struct WorldModelOutput {
  torch::Tensor next;            ///< [S, 4] motion in the next frame
  torch::Tensor future;          ///< [S, H, 4] motion in the frames of the horizon
  torch::Tensor conflict_logit;  ///< [S] logit of the probability of a short time-to-collision
  torch::Tensor z_flow;          ///< [S, latent_dim] latent from which `future` is computed
  torch::Tensor z_risk;          ///< [S, latent_dim] latent from which conflict_logit is computed
};

/// An LSTM over each vehicle's encodings, with heads on its last output. The latents z_flow and
/// z_risk are bottlenecks: the future is predicted from z_flow alone, and the conflict from z_risk
/// alone.
class WorldModelImpl : public torch::nn::Module {
 public:
  WorldModelImpl(const config::Model& model, std::int64_t horizon_frames);

  /// @param encodings [T, S, hidden_dim]
  /// @param present [T, S] bool; undefined means that all vehicles are present
  WorldModelOutput forward(const torch::Tensor& encodings, const torch::Tensor& present = {});

  /// One frame of inference without gradients; advances the recurrent state of S vehicles.
  /// @param encodings [S, hidden_dim]
  /// @return [S, lstm_hidden], the input of latents()
  torch::Tensor step(const torch::Tensor& encodings, LstmState& state);
  /// @param hidden [S, lstm_hidden]
  /// @return [S, 2 * latent_dim]: z_flow, then z_risk
  torch::Tensor latents(const torch::Tensor& hidden);
  [[nodiscard]] LstmState zero_state(std::int64_t vehicles) const {
    return lstm_->zero_state(vehicles);
  }

  /// Names of the parameters that get no gradient from world_model_loss in a stage (1 or 2).
  [[nodiscard]] std::vector<std::string> parameters_without_gradient(std::int64_t stage) const;

  /// These functions do the same as those of GraphEncoderImpl with the same names. The
  /// first two apply to the LSTM only; the heads always use float32.
  void set_compute_type(torch::ScalarType type) { lstm_->set_compute_type(type); }
  void set_checkpointing(bool on) { lstm_->set_checkpointing(on); }
  void pack_for_inference();
  void unpack();

  [[nodiscard]] std::int64_t horizon_frames() const { return horizon_frames_; }

 private:
  WorldModelOutput heads(const torch::Tensor& h);

  std::int64_t horizon_frames_;
  std::shared_ptr<const DenseParameters> packed_latents_;  ///< z_flow_ and z_risk_ as one layer;
                                                           ///< null unless packed for inference
  Lstm lstm_{nullptr};
  torch::nn::Sequential next_{nullptr};
  torch::nn::Linear z_flow_{nullptr};
  torch::nn::Linear z_risk_{nullptr};
  torch::nn::Sequential future_{nullptr};
  torch::nn::Sequential conflict_{nullptr};
};
TORCH_MODULE(WorldModel);

}  // namespace traffic::model
