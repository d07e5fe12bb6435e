/// Lstm, the recurrent part of the world model: an LSTM over the encodings of vehicles, which may
/// appear and disappear during the sequence.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <memory>
#include <vector>

namespace traffic::model {

/// Recurrent state of S vehicles.
struct LstmState {
  torch::Tensor hidden;  ///< [layers, S, hidden]
  torch::Tensor cell;    ///< [layers, S, hidden]
};

/// Sizes of an LSTM.
struct LstmOptions {
  std::int64_t input_size = 0;
  std::int64_t hidden_size = 0;
  std::int64_t num_layers = 1;
};

struct PackedLstm;

/// Computes the same recurrence as torch::nn::LSTM, with the same parameter names and layout. The
/// state of an absent vehicle is zero, so a vehicle starts from zero in the frame in which it
/// appears.
///
/// There are three implementations with the same results:
/// - On a CPU the forward and backward passes are fused. This requires float32 tensors and sizes
///   that are multiples of 16. The compute type must be float32, or bfloat16 if the CPU multiplies
///   it in hardware. The data of a block of vehicles then stay in the cache, and the gradient of a
///   weight comes from products over all time steps.
/// - On a GPU, float32 tensors use the kernels of device/device_lstm.h.
/// - In all other cases the passes use ATen operations.
class LstmImpl : public torch::nn::Module {
 public:
  explicit LstmImpl(const LstmOptions& options);

  /// Output of the last layer at the last time step, starting from a zero state. Differentiable
  /// with respect to x and the parameters.
  /// @param x [T, S, input_size], T > 0
  /// @param present [T, S] bool; undefined means that all vehicles are present
  /// @return [S, hidden_size]
  torch::Tensor forward(const torch::Tensor& x, const torch::Tensor& present = {});

  /// Computes one time step without gradients and updates `state`.
  /// @return output of the last layer, [S, hidden_size]
  /// @param x [S, input_size]
  torch::Tensor step(const torch::Tensor& x, LstmState& state);

  [[nodiscard]] LstmState zero_state(std::int64_t vehicles) const;

  /// These functions do the same as those of GraphEncoderImpl with the same names.
  void set_compute_type(torch::ScalarType type);
  void set_checkpointing(bool on) { checkpointing_ = on; }
  void pack_for_inference();
  void unpack() { packed_.reset(); }

 private:
  [[nodiscard]] bool fused_on(const torch::Tensor& x) const;
  [[nodiscard]] bool runs_on_gpu(const torch::Tensor& x) const;
  [[nodiscard]] torch::Tensor forward_on_gpu(const torch::Tensor& x,
                                             const torch::Tensor& present) const;
  [[nodiscard]] const torch::Tensor& parameter(std::int64_t layer, std::int64_t which) const;

  LstmOptions options_;
  torch::ScalarType compute_type_ = torch::kFloat;
  bool checkpointing_ = false;
  std::vector<torch::Tensor> parameters_;  ///< per layer: weight_ih, weight_hh, bias_ih, bias_hh
  std::shared_ptr<PackedLstm> packed_;     ///< set while packed for inference
};
TORCH_MODULE(Lstm);

}  // namespace traffic::model
