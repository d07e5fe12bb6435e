#include "references.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>

#include "traffic/core/random.h"

namespace traffic::model::testing {

using torch::Tensor;

GraphBatch random_graphs(const std::vector<std::int64_t>& sizes, std::int64_t node_features,
                         std::uint64_t seed) {
  Rng rng(seed);
  torch::manual_seed(seed);
  std::vector<std::int32_t> ptr{0};
  std::vector<std::int32_t> src;
  std::int32_t base = 0;
  for (const std::int64_t size : sizes) {
    for (std::int64_t i = 0; i < size; ++i) {
      std::vector<std::int32_t> others(static_cast<std::size_t>(size));
      std::iota(others.begin(), others.end(), base);
      others.erase(others.begin() + i);
      rng.shuffle(std::span(others));
      const auto most = std::min<std::size_t>(others.size(), 12);
      const std::size_t degree =
          i % 4 == 1 || most == 0 ? 0 : 1 + static_cast<std::size_t>(rng.uniform_int(most));
      src.insert(src.end(), others.begin(), others.begin() + static_cast<std::ptrdiff_t>(degree));
      ptr.push_back(static_cast<std::int32_t>(src.size()));
    }
    base += static_cast<std::int32_t>(size);
  }
  return {torch::randn({base, node_features}), torch::tensor(ptr, torch::kInt),
          torch::tensor(src, torch::kInt),
          torch::randn({static_cast<std::int64_t>(src.size()), 4})};
}

GraphBatch part_of(const GraphBatch& graph, std::int64_t first, std::int64_t last) {
  const auto begin = graph.edge_ptr[first].item<std::int64_t>();
  const auto end = graph.edge_ptr[last].item<std::int64_t>();
  return {graph.node_features.slice(0, first, last).contiguous(),
          (graph.edge_ptr.slice(0, first, last + 1) - begin).to(torch::kInt),
          (graph.edge_src.slice(0, begin, end) - first).to(torch::kInt),
          graph.edge_features.slice(0, begin, end).contiguous()};
}

GraphBatch without_edges(const GraphBatch& graph) {
  return {graph.node_features, torch::zeros_like(graph.edge_ptr), torch::empty({0}, torch::kInt),
          torch::empty({0, 4})};
}

Tensor attention_by_node(const Tensor& qkv, const GraphBatch& graph, const EdgeParameters& p,
                         std::int64_t heads) {
  const std::int64_t width = qkv.size(1) / 3;
  const std::int64_t channels = width / heads;
  const Tensor src = graph.edge_src.to(torch::kLong);
  std::vector<Tensor> rows;
  for (std::int64_t i = 0; i < qkv.size(0); ++i) {
    const auto first = graph.edge_ptr[i].item<std::int64_t>();
    const auto last = graph.edge_ptr[i + 1].item<std::int64_t>();
    if (first == last) {
      rows.push_back(torch::zeros({width}, qkv.options()));
      continue;
    }
    const Tensor f = graph.edge_features.slice(0, first, last).to(qkv.scalar_type());
    const Tensor shift = f.matmul(p.edge_weight.t());
    const Tensor neighbours = qkv.index({src.slice(0, first, last)});
    const Tensor query = qkv[i].slice(0, 0, width).view({heads, 1, channels});
    const auto by_head = [&](const Tensor& t) {
      return t.view({last - first, heads, channels}).transpose(0, 1);  // [heads, edges, channels]
    };
    const Tensor key = by_head(neighbours.slice(1, width, 2 * width) + shift);
    const Tensor value = by_head(neighbours.slice(1, 2 * width, 3 * width) + shift);
    const Tensor risk =
        torch::relu(f.matmul(p.risk_in_weight.t()) + p.risk_in_bias).matmul(p.risk_out_weight.t()) +
        p.risk_out_bias;
    const Tensor score =
        query.matmul(key.transpose(1, 2)).squeeze(1) / std::sqrt(static_cast<double>(channels)) +
        risk.t();
    rows.push_back(torch::softmax(score, 1).unsqueeze(1).matmul(value).reshape({width}));
  }
  return rows.empty() ? torch::zeros({0, width}, qkv.options()) : torch::stack(rows);
}

Tensor layer_by_node(const Tensor& x, const GraphBatch& graph, const NamedTensors& p,
                     const std::string& prefix, std::int64_t heads) {
  const auto get = [&](const std::string& name) { return p.at(prefix + name); };
  const auto linear = [&](const Tensor& in, const std::string& name) {
    return in.matmul(get(name + ".weight").t()) + get(name + ".bias");
  };
  const auto norm = [&](const Tensor& in, const std::string& name) {
    const Tensor centred = in - in.mean(1, true);
    return centred / (centred.square().mean(1, true) + 1e-5).sqrt() * get(name + ".weight") +
           get(name + ".bias");
  };
  const EdgeParameters edges{get("edge.weight"), get("risk_in.weight"), get("risk_in.bias"),
                             get("risk_out.weight"), get("risk_out.bias")};
  const Tensor attended = attention_by_node(linear(x, "qkv"), graph, edges, heads);
  const Tensor h = norm(x + linear(attended, "out"), "norm1");
  const Tensor up = linear(h, "up");
  const Tensor activated = up * 0.5 * (1.0 + torch::erf(up / std::sqrt(2.0)));
  return norm(h + linear(activated, "down"), "norm2");
}

Tensor encoder_by_node(const GraphBatch& graph, const NamedTensors& p, std::int64_t layers,
                       std::int64_t heads) {
  const Tensor x = graph.node_features.to(p.at("input.weight").scalar_type());
  Tensor h =
      torch::layer_norm(torch::linear(x, p.at("input.weight"), p.at("input.bias")),
                        {p.at("input.bias").size(0)}, p.at("norm.weight"), p.at("norm.bias"), 1e-5);
  for (std::int64_t l = 0; l < layers; ++l) {
    h = layer_by_node(h, graph, p, "layers." + std::to_string(l) + ".", heads);
  }
  return h;
}

Tensor lstm_by_step(const Tensor& x, const Tensor& present, const NamedTensors& p,
                    std::int64_t layers) {
  std::vector<Tensor> input = x.unbind(0);
  for (std::int64_t l = 0; l < layers; ++l) {
    const auto get = [&](const std::string& name) { return p.at(name + "_l" + std::to_string(l)); };
    const Tensor zero = torch::zeros({x.size(1), get("weight_hh").size(1)}, x.options());
    Tensor hidden = zero;
    Tensor cell = zero;
    for (std::size_t t = 0; t < input.size(); ++t) {
      std::tie(hidden, cell) = torch::lstm_cell(input[t], {hidden, cell}, get("weight_ih"),
                                                get("weight_hh"), get("bias_ih"), get("bias_hh"));
      if (present.defined()) {
        const Tensor here = present[static_cast<std::int64_t>(t)].unsqueeze(1);
        hidden = torch::where(here, hidden, zero);
        cell = torch::where(here, cell, zero);
      }
      input[t] = hidden;
    }
  }
  return input.back();
}

NamedTensors in_double(const torch::nn::Module& module) {
  NamedTensors copies;
  for (const auto& item : module.named_parameters()) {
    copies[item.key()] = item.value().detach().to(torch::kDouble).requires_grad_(true);
  }
  return copies;
}

NamedTensors gradients_of(const torch::nn::Module& module) {
  NamedTensors gradients;
  for (const auto& item : module.named_parameters()) {
    if (item.value().grad().defined()) gradients[item.key()] = item.value().grad().clone();
  }
  return gradients;
}

void zero_gradients(torch::nn::Module& module) { module.zero_grad(); }

EncoderPasses run(GraphEncoder& encoder, const GraphBatch& graph, const Tensor& cotangent) {
  zero_gradients(*encoder);
  const Tensor out = encoder->forward(graph);
  (out * cotangent).sum().backward();
  EncoderPasses passes{out.detach().cpu(), gradients_of(*encoder)};
  for (auto& [name, gradient] : passes.gradients) gradient = gradient.cpu();
  return passes;
}

double difference(const Tensor& actual, const Tensor& expected) {
  if (expected.numel() == 0) return actual.numel() == 0 ? 0.0 : 1e30;
  const double scale = expected.detach().abs().max().item<double>();
  const double most =
      (actual.detach().to(torch::kDouble) - expected.detach()).abs().max().item<double>();
  return scale > 0 ? most / scale : most;
}

double mean_difference(const Tensor& actual, const Tensor& expected) {
  return (actual.detach().to(torch::kDouble) - expected.detach()).norm().item<double>() /
         expected.detach().to(torch::kDouble).norm().item<double>();
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && torch::equal(a, b);
}

config::Model small_model() {
  config::Model model;
  model.hidden_dim = 96;  // one and a half panels
  model.gnn_layers = 2;
  model.num_heads = 3;
  model.lstm_hidden = 48;
  model.lstm_layers = 2;
  model.latent_dim = 16;
  return model;
}

WorldModelTargets random_targets(std::int64_t vehicles, std::int64_t horizon, std::uint64_t seed) {
  torch::manual_seed(seed);
  return {torch::randn({vehicles, horizon, 4}), torch::rand({vehicles, horizon}) < 0.8,
          (torch::rand({vehicles}) < 0.3).to(torch::kFloat), torch::rand({vehicles}) < 0.9};
}

}  // namespace traffic::model::testing
