/// GraphEncoder, the network that computes one encoding (a vector) for each node of the observed
/// traffic graph. Nodes are vehicles, or traffic lights in SignalNetwork.
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

/// Computes h = LayerNorm(W x + b) from the node features x, then applies model.gnn_layers layers.
/// Each layer consists of attention over the incoming edges and a feed-forward block of width
/// 4 * hidden_dim with GELU, both followed by a residual connection and LayerNorm.
///
/// There are three implementations with the same results:
/// - On a CPU each layer is one fused node of the autograd graph. This requires float32
///   parameters, at most 16 heads, and heads whose number of channels is a multiple of 16. The
///   compute type must be float32, or bfloat16 if the CPU multiplies it in hardware.
/// - On a GPU, kernels of this module compute the attention. This requires float32 parameters and
///   heads with at most 128 channels.
/// - In all other cases a layer consists of ATen operations.
///
/// Not thread-safe.
class GraphEncoderImpl : public torch::nn::Module {
 public:
  /// @throws ShapeError if hidden_dim is not a multiple of num_heads
  GraphEncoderImpl(const config::Model& model, std::int64_t num_node_features);

  /// Differentiable with respect to the parameters, not to the graph.
  /// @return [N, hidden_dim] in the type of the parameters (float32)
  torch::Tensor forward(const GraphBatch& graph);
  /// Encodes only the S chosen nodes of a receptive field. If layers are fused and gradients are
  /// off, each layer computes only the nodes that the next layer needs.
  /// @param field must have num_layers() hops
  /// @return [S, hidden_dim]
  torch::Tensor forward(const ReceptiveField& field);

  /// Makes the encoder ignore features that are missing in the training data, by setting their
  /// weights to 0. In the training data the columns of these features are 0, so the weights stay 0.
  /// The encoder then also ignores the features in data that contain them, such as those of a
  /// simulation.
  /// @param node, edge column indices of the missing node features and edge features
  void ignore_features(const std::vector<std::int64_t>& node,
                       const std::vector<std::int64_t>& edge);

  /// Type of the matrix products: kFloat (default), kBFloat16 or kHalf. Parameters, sums, softmax
  /// and LayerNorm stay float32. Calls unpack().
  void set_compute_type(torch::ScalarType type);
  /// Gradient checkpointing: keeps only the inputs of layers and recomputes everything else in the
  /// backward pass, with bit-identical results.
  void set_checkpointing(bool on) { checkpointing_ = on; }
  /// Rearranges frozen weights once, instead of in every forward pass without gradients. The
  /// weights must not change until unpack() is called.
  void pack_for_inference();
  /// Undoes pack_for_inference().
  void unpack();

  [[nodiscard]] std::int64_t hidden_dim() const { return hidden_dim_; }
  [[nodiscard]] std::int64_t num_layers() const {
    return static_cast<std::int64_t>(layers_.size());
  }

 private:
  /// @param field the receptive field that `graph` belongs to; null: encode all nodes
  torch::Tensor run(const GraphBatch& graph, const ReceptiveField* field);
  /// Whether the layers are fused nodes of the autograd graph.
  [[nodiscard]] bool fused() const;
  /// Whether the layers are fused and there are fewer than hidden_dim / 2 node features. The first
  /// layer then works on an input of low rank (ThinInput in encoder_layer.h).
  [[nodiscard]] bool has_thin_input() const;
  [[nodiscard]] bool layers_run_on_gpu() const;

  std::int64_t hidden_dim_;
  std::int64_t num_heads_;
  torch::ScalarType compute_type_ = torch::kFloat;
  bool checkpointing_ = false;
  torch::nn::Linear input_{nullptr};
  torch::nn::LayerNorm norm_{nullptr};
  std::vector<std::shared_ptr<EncoderLayerImpl>> layers_;
  std::shared_ptr<const ThinForm> packed_input_;              ///< null unless packed for inference
  std::shared_ptr<const InputProjection> packed_projection_;  ///< for an input that is not thin
};
TORCH_MODULE(GraphEncoder);

}  // namespace traffic::model
