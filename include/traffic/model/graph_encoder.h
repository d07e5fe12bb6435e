/// The graph encoder: computes one encoding per vehicle from the observed traffic graph.
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

/// Computes h = LayerNorm(W x), then applies gnn_layers layers. Each layer consists of attention
/// over the incoming edges and a feed-forward block of width 4 d with GELU, both followed by a
/// residual connection and LayerNorm.
///
/// On the CPU a layer is one fused node of the autograd graph if the number of channels per head is
/// a multiple of 16 and there are at most 16 heads. Otherwise, and on other devices, it consists of
/// ATen operations; on GPUs it uses the kernels for attention (heads of at most 128 channels). Not
/// thread-safe.
class GraphEncoderImpl : public torch::nn::Module {
 public:
  /// @throws ShapeError if hidden_dim is no multiple of num_heads
  GraphEncoderImpl(const config::Model& model, std::int64_t num_node_features);

  /// Differentiable with respect to the parameters, not to the graph.
  /// @return [N, hidden_dim] float32 (of the parameters' type)
  torch::Tensor forward(const GraphBatch& graph);
  /// Encodes only the chosen nodes. Without gradients the cost is that of their receptive field
  /// alone.
  /// @param field with gnn_layers hops
  /// @return [S, hidden_dim]
  torch::Tensor forward(const ReceptiveField& field);

  /// Sets the weights of features that the data lack, whose columns are all 0, to 0. They stay 0,
  /// because such columns give no gradient. The encoder then ignores these features even where
  /// another source, such as a simulation, has them.
  /// @param node, edge columns of the missing features
  void ignore_features(const std::vector<std::int64_t>& node,
                       const std::vector<std::int64_t>& edge);

  /// Type of the matrix products: kFloat (default), kBFloat16 or kHalf. Parameters, sums, softmax
  /// and LayerNorm stay float32.
  void set_compute_type(torch::ScalarType type);
  /// Keeps only the inputs of layers and recomputes everything else in the backward pass, with
  /// bit-identical results. (Nothing in the model is random, so there is no random state to
  /// restore.)
  void set_checkpointing(bool on) { checkpointing_ = on; }
  /// Rearranges frozen weights once instead of in every forward without gradients. The weights must
  /// not change until unpack() is called.
  void pack_for_inference();
  void unpack();

  [[nodiscard]] std::int64_t hidden_dim() const { return hidden_dim_; }
  [[nodiscard]] std::int64_t num_layers() const {
    return static_cast<std::int64_t>(layers_.size());
  }

 private:
  /// @param field the receptive field that `graph` belongs to; null: encode all nodes
  torch::Tensor run(const GraphBatch& graph, const ReceptiveField* field);
  /// Whether layers are fused, and whether the first layer takes a thin input (few features).
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
  std::shared_ptr<const ThinForm> packed_input_;              ///< null: computed in every forward
  std::shared_ptr<const InputProjection> packed_projection_;  ///< for an input that is not thin
};
TORCH_MODULE(GraphEncoder);

}  // namespace traffic::model
