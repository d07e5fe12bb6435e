// A layer of the graph encoder as a torch module, and as a node of the autograd graph.
#include "encoder_layer_module.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <utility>

#include "recomputed.h"

namespace traffic::model {
namespace {

using kernels::Bf16;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Data that a fused layer keeps for its backward pass, in addition to its inputs and parameters.
struct LayerState : torch::CustomClassHolder {
  std::shared_ptr<const EdgeIndex> edges;
  std::int64_t heads = 0;
  bool bf16 = false;
  bool keep_tape = true;  ///< if false, the backward pass computes the tape again
  LayerTape tape;
};

/// The tensors that autograd gets as one list: x, the layer's parameters and, for a thin input, its
/// three factors.
struct LayerVariables {
  explicit LayerVariables(at::TensorList all) : x(all[0]) {
    std::copy_n(all.begin() + 1, kNumLayerParameters, parameters.begin());
    if (all.size() > 1 + kNumLayerParameters) {
      const auto rest = all.slice(1 + kNumLayerParameters);
      thin = {rest[0], {rest[1], rest[2]}};
    }
  }
  [[nodiscard]] LayerInput input(const LayerState& state) const {
    return {x, *state.edges, parameters, state.heads, thin ? &*thin : nullptr};
  }
  template <typename T>
  [[nodiscard]] PackedLayer<T> pack(const LayerState& state) const {
    return pack_layer<T>(parameters, state.heads, thin ? &thin->of : nullptr);
  }

  Tensor x;
  LayerParameters parameters;
  std::optional<ThinInput> thin;
};

template <typename T>
Tensor run_forward(const LayerVariables& variables, LayerState& state) {
  return layer_forward<T>(variables.input(state), variables.pack<T>(state),
                          state.keep_tape ? &state.tape : nullptr);
}

template <typename T>
LayerGradients run_backward(const LayerVariables& variables, LayerState& state,
                            const Tensor& grad_out) {
  if (state.keep_tape) return layer_backward<T>(variables.input(state), state.tape, grad_out);
  LayerTape tape;
  layer_forward<T>(variables.input(state), variables.pack<T>(state), &tape);
  return layer_backward<T>(variables.input(state), tape, grad_out);
}

/// Runs the forward pass without gradients.
/// @param packed weights packed in advance, or nothing
template <typename T>
Tensor forward_only(const LayerInput& input, const std::optional<PackedLayer<T>>& packed) {
  if (packed) return layer_forward<T>(input, *packed, nullptr);
  const ThinBasis* thin = input.thin != nullptr ? &input.thin->of : nullptr;
  return layer_forward<T>(input, pack_layer<T>(input.parameters, input.heads, thin), nullptr);
}

/// A fused layer as one node of the autograd graph.
class FusedLayer : public torch::autograd::Function<FusedLayer> {
 public:
  static Tensor forward(AutogradContext* ctx, at::TensorList all,
                        const c10::intrusive_ptr<LayerState>& state) {
    ctx->save_for_backward(all.vec());
    ctx->saved_data["state"] = at::IValue::make_capsule(state);
    const LayerVariables variables(all);
    return state->bf16 ? run_forward<Bf16>(variables, *state)
                       : run_forward<float>(variables, *state);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const LayerVariables variables(ctx->get_saved_variables());
    const auto state =
        c10::static_intrusive_pointer_cast<LayerState>(ctx->saved_data["state"].toCapsule());
    const Tensor grad_out = grads[0].contiguous();
    LayerGradients result = state->bf16 ? run_backward<Bf16>(variables, *state, grad_out)
                                        : run_backward<float>(variables, *state, grad_out);
    if (!torch::autograd::get_current_graph_task_keep_graph()) state->tape = {};
    variable_list out{std::move(result.x)};
    out.insert(out.end(), result.parameters.begin(), result.parameters.end());
    if (variables.thin)
      out.insert(out.end(), {result.thin.rows, result.thin.of.basis, result.thin.of.offset});
    out.emplace_back();
    return out;
  }
};

}  // namespace

EncoderLayerImpl::EncoderLayerImpl(std::int64_t width, std::int64_t heads) : heads_(heads) {
  using torch::nn::Linear;
  using torch::nn::LinearOptions;
  const auto norm = [&] {
    return torch::nn::LayerNorm(torch::nn::LayerNormOptions({width}).eps(kNormEps));
  };
  qkv_ = register_module("qkv", Linear(width, 3 * width));
  edge_ = register_module("edge", Linear(LinearOptions(kernels::kEdgeFeatures, width).bias(false)));
  risk_in_ = register_module("risk_in", Linear(kernels::kEdgeFeatures, kernels::kRiskHidden));
  risk_out_ = register_module("risk_out", Linear(kernels::kRiskHidden, heads));
  out_ = register_module("out", Linear(width, width));
  norm1_ = register_module("norm1", norm());
  up_ = register_module("up", Linear(width, 4 * width));
  down_ = register_module("down", Linear(4 * width, width));
  norm2_ = register_module("norm2", norm());
}

LayerParameters EncoderLayerImpl::parameters_of_layer() const {
  return {qkv_->weight,      qkv_->bias,      edge_->weight, risk_in_->weight, risk_in_->bias,
          risk_out_->weight, risk_out_->bias, out_->weight,  out_->bias,       norm1_->weight,
          norm1_->bias,      up_->weight,     up_->bias,     down_->weight,    down_->bias,
          norm2_->weight,    norm2_->bias};
}

bool EncoderLayerImpl::fused_on(const Tensor& x, at::ScalarType compute_type) const {
  return x.is_cpu() && x.scalar_type() == torch::kFloat &&
         qkv_->weight.scalar_type() == torch::kFloat &&
         fused_layer_fits(qkv_->weight.size(1), heads_) &&
         (compute_type == torch::kFloat ||
          (compute_type == torch::kBFloat16 && has_bf16_products()));
}

Tensor EncoderLayerImpl::forward(const Tensor& x, const LayerContext& context,
                                 const std::optional<ThinInput>& thin) {
  const LayerParameters p = parameters_of_layer();
  if (context.edges == nullptr || !fused_on(x, context.compute_type)) {
    return forward_unfused(x, context, p);
  }
  const bool bf16 = context.compute_type == torch::kBFloat16;
  if (!torch::GradMode::is_enabled()) {
    const LayerInput input{x, *context.edges, p, heads_, thin ? &*thin : nullptr, context.rows};
    return bf16 ? forward_only(input, packed_bf16_) : forward_only(input, packed_float_);
  }
  auto state = c10::make_intrusive<LayerState>();
  state->edges = context.edges;
  state->heads = heads_;
  state->bf16 = bf16;
  state->keep_tape = !context.checkpointing;
  variable_list all{x};
  all.insert(all.end(), p.begin(), p.end());
  if (thin) all.insert(all.end(), {thin->rows, thin->of.basis, thin->of.offset});
  return FusedLayer::apply(at::TensorList(all), state);
}

AttentionFunction EncoderLayerImpl::attention_of(const LayerContext& context,
                                                 torch::Device where) const {
  if (context.on_device == nullptr) {
    return [graph = context.graph, heads = heads_](const Tensor& qkv, const EdgeParameters& p) {
      return segment_attention(qkv, graph, p, heads);
    };
  }
  return
      [edges = context.on_device, heads = heads_, &kernels = device::attention_kernels_of(where)](
          const Tensor& qkv, const EdgeParameters& p) {
        return device::device_attention(qkv, *edges, p, heads, kernels);
      };
}

Tensor EncoderLayerImpl::forward_unfused(const Tensor& x, const LayerContext& context,
                                         const LayerParameters& p) const {
  const auto forward = [attention = attention_of(context, x.device()),
                        type = context.compute_type](at::TensorList all) {
    LayerParameters parameters;
    std::copy_n(all.begin() + 1, kNumLayerParameters, parameters.begin());
    return layer_reference(all[0], parameters, attention, type);
  };
  variable_list all{x};
  all.insert(all.end(), p.begin(), p.end());
  return context.checkpointing ? recomputed(forward, all) : forward(all);
}

void EncoderLayerImpl::pack_for_inference(at::ScalarType compute_type, const ThinBasis* thin) {
  const LayerParameters p = parameters_of_layer();
  if (!fused_on(qkv_->weight, compute_type)) return;
  if (compute_type == torch::kBFloat16) {
    packed_bf16_ = pack_layer<Bf16>(p, heads_, thin);
  } else {
    packed_float_ = pack_layer<float>(p, heads_, thin);
  }
}

void EncoderLayerImpl::unpack() {
  packed_float_.reset();
  packed_bf16_.reset();
}

}  // namespace traffic::model
