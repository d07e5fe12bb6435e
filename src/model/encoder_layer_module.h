/// EncoderLayerImpl: a layer of the graph encoder as a torch module. It owns the parameters and
/// chooses the implementation: fused on the CPU, with kernels on a GPU, or with ATen operations.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "device/device_attention.h"
#include "encoder_layer.h"

namespace traffic::model {

/// Arguments that are the same for all layers of a forward pass, except for `rows`.
struct LayerContext {
  const GraphBatch& graph;
  std::shared_ptr<const EdgeIndex> edges;  ///< null unless the layers are fused
  /// Null unless the layers use kernels on a GPU.
  std::shared_ptr<const device::DeviceEdges> on_device;
  at::ScalarType compute_type;
  bool checkpointing;
  LayerRows rows = {};  ///< which nodes to compute; used only by fused layers without gradients
};

class EncoderLayerImpl : public torch::nn::Module {
 public:
  EncoderLayerImpl(std::int64_t width, std::int64_t heads);

  /// @param thin the factors of x if x is a thin input (encoder_layer.h) and the layer is fused
  torch::Tensor forward(const torch::Tensor& x, const LayerContext& context,
                        const std::optional<ThinInput>& thin = {});

  /// Packs the weights for forward passes without gradients. Does nothing if the layer is not
  /// fused.
  /// @param thin basis of the input; null if the input is not thin
  void pack_for_inference(at::ScalarType compute_type, const ThinBasis* thin);
  void unpack();
  /// The weights of the edge features, one column per feature.
  [[nodiscard]] std::array<torch::Tensor, 2> edge_weights() const {
    return {edge_->weight, risk_in_->weight};
  }
  /// Whether the layer uses the fused implementation for x.
  [[nodiscard]] bool fused_on(const torch::Tensor& x, at::ScalarType compute_type) const;

 private:
  [[nodiscard]] LayerParameters parameters_of_layer() const;
  [[nodiscard]] AttentionFunction attention_of(const LayerContext& context,
                                               torch::Device where) const;
  [[nodiscard]] torch::Tensor forward_unfused(const torch::Tensor& x, const LayerContext& context,
                                              const LayerParameters& p) const;

  std::int64_t heads_;
  torch::nn::Linear qkv_{nullptr};
  torch::nn::Linear edge_{nullptr};
  torch::nn::Linear risk_in_{nullptr};
  torch::nn::Linear risk_out_{nullptr};
  torch::nn::Linear out_{nullptr};
  torch::nn::LayerNorm norm1_{nullptr};
  torch::nn::Linear up_{nullptr};
  torch::nn::Linear down_{nullptr};
  torch::nn::LayerNorm norm2_{nullptr};
  std::optional<PackedLayer<float>> packed_float_;
  std::optional<PackedLayer<kernels::Bf16>> packed_bf16_;
};

}  // namespace traffic::model
