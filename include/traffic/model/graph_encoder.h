/// The graph encoder: from the observed traffic graph to one encoding a vehicle.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "traffic/config/config.h"
#include "traffic/model/graph_batch.h"
#include "traffic/model/receptive_field.h"

namespace traffic::model {

class EncoderLayerImpl;
struct InputProjection;
struct ThinForm;

/// h = LayerNorm(W x), then gnn_layers times attention over in-edges and a
/// feed-forward block of width 4 d with GELU, each with residual and LayerNorm behind it.
///
/// On the CPU a layer is one fused node of the autograd graph if a head has a multiple of 16
/// channels and there are at most 16 heads; otherwise, and on other devices, it is made of ATen
/// operations, with kernels for the attention on GPUs (heads of at most 128 channels). Not
/// thread-safe.
class GraphEncoderImpl : public torch::nn::Module {
 public:
  /// @throws ShapeError if hidden_dim is no multiple of num_heads
  GraphEncoderImpl(const config::Model& model, std::int64_t num_node_features);

  /// Differentiable in the parameters, not in the graph.
  /// @return [N, hidden_dim] float32 (of the parameters' type)
  torch::Tensor forward(const GraphBatch& graph);
  /// Of the chosen nodes only, which without gradients costs what they depend on.
  /// @param field with gnn_layers hops
  /// @return [S, hidden_dim]
  torch::Tensor forward(const ReceptiveField& field);

  /// For features that the data do not have, whose columns are 0 throughout: their weights become 0
  /// and stay so, because such columns give them no gradient. So the encoder ignores what another
  /// source, a simulation, has there.
  /// @param node, edge columns
  void ignore_features(const std::vector<std::int64_t>& node,
                       const std::vector<std::int64_t>& edge);

  /// Type of the matrix products: kFloat (default), kBFloat16 or kHalf. Parameters, sums, softmax
  /// and LayerNorm stay float32.
  void set_compute_type(torch::ScalarType type);
  /// Keep only the inputs of layers and compute the rest again in the backward pass, to the same
  /// bits. (Nothing in the model is random, so there is no random state to restore.)
  void set_checkpointing(bool on) { checkpointing_ = on; }
  /// For frozen weights: rearranges them once, not in every forward without gradients. The weights
  /// must not change until unpack() is called.
  void pack_for_inference();
  void unpack();

  [[nodiscard]] std::int64_t hidden_dim() const { return hidden_dim_; }
  [[nodiscard]] std::int64_t num_layers() const {
    return static_cast<std::int64_t>(layers_.size());
  }

 private:
  /// @param field whose graph that is; null: all nodes are wanted
  torch::Tensor run(const GraphBatch& graph, const ReceptiveField* field);
  /// Whether layers are fused, and whether the first of them takes a thin input (of few features).
  [[nodiscard]] bool fused() const;
  [[nodiscard]] bool has_thin_input() const;
  [[nodiscard]] bool layers_run_on_gpu() const;

  std::int64_t hidden_dim_;
  std::int64_t num_heads_;
  torch::ScalarType compute_type_ = torch::kFloat;
  bool checkpointing_ = false;
  torch::nn::Linear input_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  std::vector<std::shared_ptr<EncoderLayerImpl>> layers_;
  std::shared_ptr<const ThinForm> packed_input_;              ///< null: made in every forward
  std::shared_ptr<const InputProjection> packed_projection_;  ///< of an input that is not thin
};
TORCH_MODULE(GraphEncoder);

}  // namespace traffic::model
