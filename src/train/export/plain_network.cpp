// Lists the operations of a network, and makes a TorchScript module of them.
#include "export/plain_network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <torch/csrc/jit/api/module.h>
#include <torch/types.h>

#include <algorithm>
#include <sstream>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

constexpr float kLowest = -1e30F;  // start of a maximum; the networks' own kernels use it, too

/// Name of a constant as a member of a TorchScript module, which contains no dots.
std::string member_of(std::string name) {
  std::ranges::replace(name, '.', '_');
  return name;
}

}  // namespace

PlainValue PlainNetwork::input(PlainPort port) {
  PlainValue value{.name = port.name, .torch = port.name};
  inputs_.push_back(std::move(port));
  return value;
}

PlainValue PlainNetwork::constant(std::string name, const at::Tensor& value) {
  TRAFFIC_CHECK(value.scalar_type() == at::kFloat || value.scalar_type() == at::kLong,
                "constant {} of a network is neither float32 nor int64", name);
  std::string torch = fmt::format("self.{}", member_of(name));
  constants_.emplace_back(name, value.detach().to(at::kCPU).contiguous().clone());
  return {.name = std::move(name), .torch = std::move(torch)};
}

PlainValue PlainNetwork::integers(const std::vector<std::int64_t>& values) {
  return constant(fmt::format("integers_{}", constants_.size()),
                  torch::tensor(values, torch::kLong));
}

void PlainNetwork::output(const PlainValue& value, PlainPort port) {
  steps_.push_back(
      {.operation = "Identity", .inputs = {value.name}, .output = port.name, .attributes = {}});
  results_ += fmt::format("{}'{}': {}", results_.empty() ? "" : ", ", port.name, value.torch);
  outputs_.push_back(std::move(port));
}

PlainValue PlainNetwork::step(std::string operation, std::vector<std::string> inputs,
                              const std::string& torch, std::vector<PlainAttribute> attributes) {
  std::string name = fmt::format("v{}", steps_.size());
  if (!torch.empty()) source_ += fmt::format("  {} = {}\n", name, torch);
  steps_.push_back({.operation = std::move(operation),
                    .inputs = std::move(inputs),
                    .output = name,
                    .attributes = std::move(attributes)});
  return {.name = name, .torch = name};
}

PlainValue PlainNetwork::unary(const char* operation, const char* torch, const PlainValue& x) {
  return step(operation, {x.name}, fmt::format("torch.{}({})", torch, x.torch));
}

PlainValue PlainNetwork::binary(const char* operation, const char* torch, const PlainValue& a,
                                const PlainValue& b) {
  return step(operation, {a.name, b.name},
              fmt::format("torch.{}({}, {})", torch, a.torch, b.torch));
}

PlainValue PlainNetwork::linear(const PlainValue& x, const PlainValue& weight,
                                const PlainValue* bias) {
  std::vector<std::string> inputs{x.name, weight.name};
  if (bias != nullptr) inputs.push_back(bias->name);
  return step("Gemm", std::move(inputs),
              fmt::format("torch.linear({}, {}, {})", x.torch, weight.torch,
                          bias != nullptr ? bias->torch : "None"),
              {{"transB", std::int64_t{1}}});
}

PlainValue PlainNetwork::add(const PlainValue& a, const PlainValue& b) {
  return binary("Add", "add", a, b);
}
PlainValue PlainNetwork::subtract(const PlainValue& a, const PlainValue& b) {
  return binary("Sub", "sub", a, b);
}
PlainValue PlainNetwork::multiply(const PlainValue& a, const PlainValue& b) {
  return binary("Mul", "mul", a, b);
}
PlainValue PlainNetwork::divide(const PlainValue& a, const PlainValue& b) {
  return binary("Div", "div", a, b);
}
PlainValue PlainNetwork::minimum(const PlainValue& a, const PlainValue& b) {
  return binary("Min", "minimum", a, b);
}
PlainValue PlainNetwork::maximum(const PlainValue& a, const PlainValue& b) {
  return binary("Max", "maximum", a, b);
}

PlainValue PlainNetwork::layer_norm(const PlainValue& x, const PlainValue& weight,
                                    const PlainValue& bias, double epsilon) {
  return step("LayerNormalization", {x.name, weight.name, bias.name},
              fmt::format("torch.layer_norm({}, [{}.size(0)], {}, {}, {})", x.torch, weight.torch,
                          weight.torch, bias.torch, epsilon),
              {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(epsilon)}});
}

PlainValue PlainNetwork::softmax(const PlainValue& x) {
  return step("Softmax", {x.name}, fmt::format("torch.softmax({}, 1)", x.torch),
              {{"axis", std::int64_t{1}}});
}

PlainValue PlainNetwork::log_sum_exp(const PlainValue& x) {
  return step("ReduceLogSumExp", {x.name, integers({1}).name},
              fmt::format("torch.logsumexp({}, [1], True)", x.torch),
              {{"keepdims", std::int64_t{1}}});
}

PlainValue PlainNetwork::mean_of_rows(const PlainValue& x) {
  return step("ReduceMean", {x.name, integers({0}).name},
              fmt::format("torch.mean({}, [0], True)", x.torch), {{"keepdims", std::int64_t{1}}});
}

PlainValue PlainNetwork::columns(const PlainValue& x, std::int64_t first, std::int64_t count) {
  return step("Slice",
              {x.name, integers({first}).name, integers({first + count}).name, integers({1}).name},
              fmt::format("{}.narrow(1, {}, {})", x.torch, first, count));
}

PlainValue PlainNetwork::join_columns(const std::vector<PlainValue>& parts) {
  std::vector<std::string> names;
  std::vector<std::string> torch;
  for (const PlainValue& part : parts) {
    names.push_back(part.name);
    torch.push_back(part.torch);
  }
  return step("Concat", std::move(names), fmt::format("torch.cat([{}], 1)", fmt::join(torch, ", ")),
              {{"axis", std::int64_t{1}}});
}

PlainValue PlainNetwork::rows(const PlainValue& x, const PlainValue& index) {
  return step("Gather", {x.name, index.name},
              fmt::format("{}.index_select(0, {})", x.torch, index.torch),
              {{"axis", std::int64_t{0}}});
}

PlainValue PlainNetwork::count_rows(const PlainValue& x) {
  return step("Shape", {x.name}, fmt::format("torch.tensor([{}.size(0)])", x.torch),
              {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
}

PlainValue PlainNetwork::flat(const PlainValue& x) {
  return step("Squeeze", {x.name, integers({1}).name}, fmt::format("{}.squeeze(1)", x.torch));
}

/// ScatterND on a tensor that is filled with `start`.
PlainValue PlainNetwork::scatter(const PlainValue& x, const PlainValue& group,
                                 const PlainValue& groups, float start, const char* reduction,
                                 const std::string& torch) {
  const PlainValue width = step("Shape", {x.name}, "", {{"start", std::int64_t{1}}});
  const PlainValue shape =
      step("Concat", {groups.name, width.name}, "", {{"axis", std::int64_t{0}}});
  const PlainValue initial =
      constant(fmt::format("start_{}", constants_.size()), torch::full({1}, start, torch::kFloat));
  const PlainValue filled = step("Expand", {initial.name, shape.name}, "");
  const PlainValue index = step("Unsqueeze", {group.name, integers({1}).name}, "");
  return step("ScatterND", {filled.name, index.name, x.name}, torch,
              {{"reduction", std::string(reduction)}});
}

PlainValue PlainNetwork::sum_groups(const PlainValue& x, const PlainValue& group,
                                    const PlainValue& groups) {
  return scatter(x, group, groups, 0.0F, "add",
                 fmt::format("torch.zeros([int({0}), {1}.size(1)]).index_add(0, {2}, {1})",
                             groups.torch, x.torch, group.torch));
}

PlainValue PlainNetwork::max_groups(const PlainValue& x, const PlainValue& group,
                                    const PlainValue& groups) {
  return scatter(x, group, groups, kLowest, "max",
                 fmt::format("torch.full([int({0}), {1}.size(1)], {3}).scatter_reduce(0, "
                             "{2}.unsqueeze(1).expand_as({1}), {1}, 'amax')",
                             groups.torch, x.torch, group.torch, kLowest));
}

std::string PlainNetwork::to_torchscript() const {
  torch::jit::Module module("TrafficPolicy");
  for (const auto& [name, value] : constants_) module.register_buffer(member_of(name), value);
  std::string arguments;
  for (const PlainPort& port : inputs_) arguments += fmt::format(", {}: Tensor", port.name);
  module.define(fmt::format("def forward(self{}) -> Dict[str, Tensor]:\n{}  return {{{}}}\n",
                            arguments, source_, results_));
  std::ostringstream file;
  module.save(file);
  return file.str();
}

}  // namespace traffic::train
