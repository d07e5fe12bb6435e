// The LSTM of the world model: it chooses between the fused passes, the kernels on GPUs and ATen
// operations.
#include "traffic/model/lstm.h"

#include <torch/csrc/autograd/custom_function.h>
#include <torch/csrc/autograd/engine.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <variant>

#include "device/device_lstm.h"
#include "lstm_passes.h"
#include "recomputed.h"
#include "traffic/core/error.h"

namespace traffic::model {

/// The weights of all layers, packed in advance for inference in the type of the products.
struct PackedLstm {
  std::variant<std::vector<PackedLstmLayer<float>>, std::vector<PackedLstmLayer<kernels::Bf16>>>
      layers;
};

namespace {

using kernels::Bf16;
using torch::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

template <typename T>
std::vector<PackedLstmLayer<T>> pack(at::TensorList parameters) {
  std::vector<PackedLstmLayer<T>> packed;
  for (const LstmLayerParameters& layer : by_layer(parameters))
    packed.push_back(pack_lstm_layer<T>(layer));
  return packed;
}

/// Data that a fused LSTM keeps for its backward pass, in addition to its input and parameters.
struct LstmTape : torch::CustomClassHolder {
  bool bf16 = false;
  bool keep = true;  ///< whether to keep `layers`; if not, the backward pass computes them again
  Tensor present;
  std::vector<LstmLayerTape> layers;
};

/// A fused LSTM as one node of the autograd graph.
class FusedLstm : public torch::autograd::Function<FusedLstm> {
 public:
  static Tensor forward(AutogradContext* ctx, const Tensor& x, at::TensorList parameters,
                        const c10::intrusive_ptr<LstmTape>& tape) {
    variable_list saved{x};
    saved.insert(saved.end(), parameters.begin(), parameters.end());
    ctx->save_for_backward(saved);
    ctx->saved_data["tape"] = at::IValue::make_capsule(tape);
    return run(x, parameters, *tape, tape->keep ? &tape->layers : nullptr);
  }

  static variable_list backward(AutogradContext* ctx, const variable_list& grads) {
    const auto saved = ctx->get_saved_variables();
    const auto tape =
        c10::static_intrusive_pointer_cast<LstmTape>(ctx->saved_data["tape"].toCapsule());
    const auto parameters = by_layer(at::TensorList(saved).slice(1));
    const LstmInput input{saved[0], tape->present, {}, {}};
    if (!tape->keep) run(saved[0], at::TensorList(saved).slice(1), *tape, &tape->layers);
    const Tensor grad_out = grads[0].contiguous();
    LstmGradients result = tape->bf16
                               ? lstm_backward<Bf16>(input, parameters, tape->layers, grad_out)
                               : lstm_backward<float>(input, parameters, tape->layers, grad_out);
    if (!tape->keep || !torch::autograd::get_current_graph_task_keep_graph()) tape->layers.clear();
    variable_list out{std::move(result.x)};
    for (auto& layer : result.parameters) out.insert(out.end(), layer.begin(), layer.end());
    out.emplace_back();
    return out;
  }

 private:
  static Tensor run(const Tensor& x, at::TensorList parameters, const LstmTape& tape,
                    std::vector<LstmLayerTape>* layers) {
    const LstmInput input{x, tape.present, {}, {}};
    return tape.bf16 ? lstm_forward(input, pack<Bf16>(parameters), layers).last
                     : lstm_forward(input, pack<float>(parameters), layers).last;
  }
};

struct StepTensors {
  Tensor hidden;
  Tensor cell;
};

/// One step of one layer in ATen operations.
StepTensors reference_step(const Tensor& x, const StepTensors& before, const LstmLayerParameters& p,
                           at::ScalarType type) {
  const auto product = [&](const Tensor& in, LstmParameter weight, LstmParameter bias) {
    return at::linear(in.to(type), p[weight].to(type), p[bias].to(type));
  };
  const auto gates = (product(x, kWeightIh, kBiasIh) + product(before.hidden, kWeightHh, kBiasHh))
                         .to(p[kWeightIh].scalar_type())
                         .chunk(4, 1);
  const Tensor cell = gates[1].sigmoid() * before.cell + gates[0].sigmoid() * gates[2].tanh();
  return {gates[3].sigmoid() * cell.tanh(), cell};
}

/// All steps of all layers in ATen operations.
Tensor reference_forward(const Tensor& x, const Tensor& present,
                         const std::vector<LstmLayerParameters>& layers, at::ScalarType type) {
  Tensor input = x;
  for (const LstmLayerParameters& layer : layers) {
    const Tensor zero = at::zeros({x.size(1), layer[kWeightHh].size(1)}, x.options());
    StepTensors state{zero, zero};
    std::vector<Tensor> outputs;
    for (std::int64_t t = 0; t < x.size(0); ++t) {
      state = reference_step(input[t], state, layer, type);
      if (present.defined()) {
        const Tensor mask = present[t].unsqueeze(1).to(x.scalar_type());
        state = {state.hidden * mask, state.cell * mask};
      }
      outputs.push_back(state.hidden);
    }
    input = at::stack(outputs);
  }
  return input[x.size(0) - 1];
}

/// One step of all layers on the CPU, fused.
template <typename T>
Tensor fused_step(const Tensor& x, LstmState& state,
                  const std::vector<PackedLstmLayer<T>>& layers) {
  const LstmOutput out =
      lstm_forward<T>({x.unsqueeze(0), {}, state.hidden, state.cell}, layers, nullptr);
  state = {out.hidden, out.cell};
  return out.last;
}

}  // namespace

LstmImpl::LstmImpl(const LstmOptions& options) : options_(options) {
  const double bound = 1.0 / std::sqrt(static_cast<double>(options.hidden_size));
  const std::int64_t gates = 4 * options.hidden_size;
  for (std::int64_t l = 0; l < options.num_layers; ++l) {
    const std::string suffix = "_l" + std::to_string(l);
    const auto add = [&](const std::string& name, at::IntArrayRef sizes) {
      parameters_.push_back(
          register_parameter(name + suffix, torch::empty(sizes).uniform_(-bound, bound)));
    };
    add("weight_ih", {gates, l == 0 ? options.input_size : options.hidden_size});
    add("weight_hh", {gates, options.hidden_size});
    add("bias_ih", {gates});
    add("bias_hh", {gates});
  }
}

const Tensor& LstmImpl::parameter(std::int64_t layer, std::int64_t which) const {
  return parameters_[static_cast<std::size_t>(layer) * kNumLstmParameters +
                     static_cast<std::size_t>(which)];
}

bool LstmImpl::fused_on(const Tensor& x) const {
  return x.is_cpu() && parameters_.front().is_cpu() && x.scalar_type() == torch::kFloat &&
         parameters_.front().scalar_type() == torch::kFloat &&
         options_.input_size % kernels::kWidthUnit == 0 &&
         options_.hidden_size % kernels::kWidthUnit == 0 &&
         (compute_type_ == torch::kFloat ||
          (compute_type_ == torch::kBFloat16 && has_bf16_products()));
}

bool LstmImpl::runs_on_gpu(const Tensor& x) const {
  return x.is_cuda() && parameters_.front().is_cuda() && x.scalar_type() == torch::kFloat &&
         parameters_.front().scalar_type() == torch::kFloat;
}

Tensor LstmImpl::forward_on_gpu(const Tensor& x, const Tensor& present) const {
  const auto& kernels = device::lstm_kernels_of(x.device());
  const Tensor bytes = present.defined() ? present.contiguous().view(torch::kByte) : Tensor();
  if (!torch::GradMode::is_enabled()) {
    return device::device_lstm({x.contiguous(), bytes, {}, {}}, by_layer(parameters_),
                               compute_type_, kernels)
        .last;
  }
  const auto forward = [bytes, type = compute_type_, &kernels](at::TensorList all) {
    return device::differentiable_lstm(all[0], bytes, all.slice(1), type, kernels);
  };
  variable_list all{x.contiguous()};
  all.insert(all.end(), parameters_.begin(), parameters_.end());
  return checkpointing_ ? recomputed(forward, all) : forward(all);
}

Tensor LstmImpl::forward(const Tensor& x, const Tensor& present) {
  if (x.dim() != 3 || x.size(0) == 0 || x.size(2) != options_.input_size) {
    throw ShapeError("an LSTM's input must be [T, S, {}] with T > 0", options_.input_size);
  }
  if (present.defined() &&
      (present.sizes() != x.sizes().slice(0, 2) || present.scalar_type() != torch::kBool)) {
    throw ShapeError("present must be [{}, {}] bool", x.size(0), x.size(1));
  }
  if (runs_on_gpu(x)) return forward_on_gpu(x, present);
  if (!fused_on(x)) {
    const auto type = x.scalar_type() == torch::kDouble ? torch::kDouble : compute_type_;
    const auto forward = [present, type](at::TensorList all) {
      return reference_forward(all[0], present, by_layer(all.slice(1)), type);
    };
    variable_list all{x};
    all.insert(all.end(), parameters_.begin(), parameters_.end());
    return checkpointing_ ? recomputed(forward, all) : forward(all);
  }
  auto tape = c10::make_intrusive<LstmTape>();
  tape->bf16 = compute_type_ == torch::kBFloat16;
  tape->keep = !checkpointing_;
  if (present.defined()) tape->present = present.contiguous().view(torch::kByte);
  if (torch::GradMode::is_enabled())
    return FusedLstm::apply(x.contiguous(), at::TensorList(parameters_), tape);
  const LstmInput input{x.contiguous(), tape->present, {}, {}};
  return tape->bf16 ? lstm_forward(input, pack<Bf16>(parameters_), nullptr).last
                    : lstm_forward(input, pack<float>(parameters_), nullptr).last;
}

Tensor LstmImpl::step(const Tensor& x, LstmState& state) {
  const torch::NoGradGuard no_grad;
  if (x.dim() != 2 || x.size(1) != options_.input_size || state.hidden.size(1) != x.size(0)) {
    throw ShapeError("a step's input must be [S, {}] with S = {} as in the state",
                     options_.input_size, state.hidden.size(1));
  }
  if (fused_on(x)) {
    state = {state.hidden.contiguous(), state.cell.contiguous()};
    if (packed_) {
      return std::visit(
          [&](const auto& layers) { return fused_step(x.contiguous(), state, layers); },
          packed_->layers);
    }
    return compute_type_ == torch::kBFloat16
               ? fused_step(x.contiguous(), state, pack<Bf16>(parameters_))
               : fused_step(x.contiguous(), state, pack<float>(parameters_));
  }
  const auto layers = by_layer(parameters_);
  if (runs_on_gpu(x)) {
    const LstmOutput out =
        device::device_lstm({x.contiguous().unsqueeze(0), {}, state.hidden, state.cell}, layers,
                            compute_type_, device::lstm_kernels_of(x.device()));
    state = {out.hidden, out.cell};
    return out.last;
  }
  const auto type = x.scalar_type() == torch::kDouble ? torch::kDouble : compute_type_;
  Tensor input = x;
  std::vector<Tensor> hidden;
  std::vector<Tensor> cell;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const auto i = static_cast<std::int64_t>(l);
    const StepTensors after =
        reference_step(input, {state.hidden[i], state.cell[i]}, layers[l], type);
    hidden.push_back(after.hidden);
    cell.push_back(after.cell);
    input = after.hidden;
  }
  state = {at::stack(hidden), at::stack(cell)};
  return input;
}

LstmState LstmImpl::zero_state(std::int64_t vehicles) const {
  const Tensor zero = torch::zeros({options_.num_layers, vehicles, options_.hidden_size},
                                   parameters_.front().options())
                          .detach();
  return {zero, zero.clone()};
}

void LstmImpl::set_compute_type(torch::ScalarType type) {
  TRAFFIC_CHECK(type == torch::kFloat || type == torch::kBFloat16 || type == torch::kHalf,
                "products are computed in float32, bfloat16 or float16");
  unpack();
  compute_type_ = type;
}

void LstmImpl::pack_for_inference() {
  const torch::NoGradGuard no_grad;
  unpack();
  if (!fused_on(torch::empty({0}, torch::kFloat))) return;
  packed_ = std::make_shared<PackedLstm>();
  if (compute_type_ == torch::kBFloat16) {
    packed_->layers = pack<Bf16>(parameters_);
  } else {
    packed_->layers = pack<float>(parameters_);
  }
}

}  // namespace traffic::model
