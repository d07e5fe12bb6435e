// The graph encoder: its input layer, and the sequence of its attention layers.
#include "traffic/model/graph_encoder.h"

#include <torch/nn/modules/container/modulelist.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <optional>
#include <utility>

#include "edge_index.h"
#include "encoder_layer_module.h"
#include "input_projection.h"
#include "thin_rows.h"
#include "traffic/core/error.h"

namespace traffic::model {
namespace {

/// The nodes that layer l reads and computes. It reads nodes that are up to one edge farther away
/// from the chosen nodes than those that it computes.
LayerRows rows_of_layer(const ReceptiveField& field, std::size_t l) {
  const std::size_t hops = field.end.size() - 1 - l;
  return {.in_end = field.end[hops], .out_end = field.end[hops - 1]};
}

}  // namespace

GraphEncoderImpl::GraphEncoderImpl(const config::Model& model, std::int64_t num_node_features)
    : hidden_dim_(model.hidden_dim), num_heads_(model.num_heads) {
  if (hidden_dim_ % model.num_heads != 0) {
    throw ShapeError("model.hidden_dim is {}, expected a multiple of model.num_heads, {}",
                     hidden_dim_, model.num_heads);
  }
  input_ = register_module("input", torch::nn::Linear(num_node_features, hidden_dim_));
  norm_ = register_module(
      "norm", torch::nn::LayerNorm(torch::nn::LayerNormOptions({hidden_dim_}).eps(kNormEps)));
  const auto list = register_module("layers", torch::nn::ModuleList());
  for (std::int64_t i = 0; i < model.gnn_layers; ++i) {
    layers_.push_back(std::make_shared<EncoderLayerImpl>(hidden_dim_, model.num_heads));
    list->push_back(layers_.back());
  }
}

void GraphEncoderImpl::ignore_features(const std::vector<std::int64_t>& node,
                                       const std::vector<std::int64_t>& edge) {
  const torch::NoGradGuard no_grad;
  const auto clear = [](const torch::Tensor& weight, const std::vector<std::int64_t>& columns) {
    for (const std::int64_t column : columns) weight.select(1, column).zero_();
  };
  clear(input_->weight, node);
  for (const auto& layer : layers_) {
    for (const torch::Tensor& weight : layer->edge_weights()) clear(weight, edge);
  }
}

torch::Tensor GraphEncoderImpl::forward(const GraphBatch& graph) {
  check_graph(graph);
  return run(graph, nullptr);
}

torch::Tensor GraphEncoderImpl::forward(const ReceptiveField& field) {
  TRAFFIC_CHECK(field.end.size() == layers_.size() + 1,
                "the receptive field has {} hops, expected {}, the number of layers of the encoder",
                field.end.size() - 1, layers_.size());
  return run(field.graph, &field).index_select(0, field.chosen);
}

torch::Tensor GraphEncoderImpl::run(const GraphBatch& graph, const ReceptiveField* field) {
  const auto type = input_->weight.scalar_type();
  LayerContext context{graph, nullptr, nullptr, type == torch::kDouble ? type : compute_type_,
                       checkpointing_};
  const bool by_parts = field != nullptr && fused() && !torch::GradMode::is_enabled();
  if (by_parts) {
    context.edges = std::make_shared<const EdgeIndex>(EdgeIndex{
        graph.edge_ptr, graph.edge_src, graph.edge_features, {}, {}, {}, field->group_ptr});
  } else if (fused()) {
    context.edges =
        std::make_shared<const EdgeIndex>(make_edge_index(graph, torch::GradMode::is_enabled()));
  }
  if (layers_run_on_gpu()) {
    context.on_device = std::make_shared<const device::DeviceEdges>(
        device::make_device_edges(graph, torch::GradMode::is_enabled()));
  }
  std::optional<ThinInput> thin;
  torch::Tensor h;
  const bool infers = !torch::GradMode::is_enabled();
  if (has_thin_input()) {
    thin = thin_input(graph.node_features,
                      packed_input_ && infers ? *packed_input_ : thin_form(*input_, *norm_));
    // h needs no gradient: the first layer passes its gradient to the three tensors in `thin`.
    h = torch::addmm(thin->of.offset.detach(), thin->rows.detach(), thin->of.basis.detach());
  } else if (packed_projection_ && infers) {
    h = project_input(graph.node_features, *packed_projection_);
  } else {
    h = norm_(input_(graph.node_features.to(type)));
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    if (by_parts) context.rows = rows_of_layer(*field, l);
    h = layers_[l]->forward(h, context, std::exchange(thin, std::nullopt));
  }
  return h;
}

bool GraphEncoderImpl::fused() const {
  return !layers_.empty() && layers_.front()->fused_on(input_->weight, compute_type_);
}

bool GraphEncoderImpl::layers_run_on_gpu() const {
  return input_->weight.is_cuda() && input_->weight.scalar_type() == torch::kFloat &&
         device::device_attention_fits(hidden_dim_, num_heads_);
}

bool GraphEncoderImpl::has_thin_input() const {
  return fused() && input_->weight.size(1) < hidden_dim_ / 2;
}

void GraphEncoderImpl::set_compute_type(torch::ScalarType type) {
  TRAFFIC_CHECK(type == torch::kFloat || type == torch::kBFloat16 || type == torch::kHalf,
                "products are computed in float32, bfloat16 or float16");
  unpack();
  compute_type_ = type;
}

void GraphEncoderImpl::pack_for_inference() {
  const torch::NoGradGuard no_grad;
  unpack();
  if (has_thin_input()) {
    packed_input_ = std::make_shared<const ThinForm>(thin_form(*input_, *norm_));
  } else if (fused()) {
    packed_projection_ = std::make_shared<const InputProjection>(pack_input(*input_, *norm_));
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const bool thin = l == 0 && packed_input_ != nullptr;
    layers_[l]->pack_for_inference(compute_type_, thin ? &packed_input_->of : nullptr);
  }
}

void GraphEncoderImpl::unpack() {
  packed_input_.reset();
  packed_projection_.reset();
  for (const auto& layer : layers_) layer->unpack();
}

}  // namespace traffic::model
