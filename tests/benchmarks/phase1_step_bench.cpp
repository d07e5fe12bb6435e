// Measures whole training steps of phase 1 (forward, backward, clip, Adam) in one process, on
// synthetic windows.
//   bench_phase1_step [full|small] [fp32|bf16] [steps]
//   bench_phase1_step --gemm-bound [full|small] [fp32|bf16]   prints samples/s of this bound only
// Prints the fastest and the median step, the time of its parts, and a bound: the rate if a step
// were only its matrix products. Times are CPU time of the process, so that other load on the
// machine has less influence.
#include <ATen/Parallel.h>
#include <ATen/ops/_fused_adam.h>
#include <fmt/format.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <vector>

#include "benchmarks/synthetic_windows.h"
#include "model/gemm.h"
#include "traffic/model/graph_encoder.h"
#include "traffic/model/initialise.h"
#include "traffic/model/loss.h"
#include "traffic/model/world_model.h"

namespace {

using namespace traffic;
using model::kernels::Bf16;

double cpu_ms() {
  timespec t{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
  return static_cast<double>(t.tv_sec) * 1e3 + static_cast<double>(t.tv_nsec) * 1e-6;
}

struct Product {
  std::int64_t rows, depth, columns;
  double times;  ///< occurrences in a step
  [[nodiscard]] double gflop() const { return 2e-9 * static_cast<double>(rows * depth * columns); }
};

/// All products of a step with more than 0.1 % of its arithmetic: forward, gradients of inputs,
/// gradients of weights.
std::vector<Product> products(const config::Model& m, const benchmarks::Windows& w) {
  const std::int64_t n = w.frames * w.vehicles;
  const std::int64_t d = m.hidden_dim;
  const std::int64_t h = m.lstm_hidden;
  const auto layers = static_cast<double>(m.gnn_layers);
  std::vector<Product> all;
  const auto linear = [&](std::int64_t rows, std::int64_t in, std::int64_t out, double times) {
    all.push_back({rows, in, out, times});
    all.push_back({rows, out, in, times});
    all.push_back({out, rows, in, times});
  };
  linear(n, d, 3 * d, layers);
  linear(n, d, d, layers);
  linear(n, d, 4 * d, layers);
  linear(n, 4 * d, d, layers);
  const auto frames = static_cast<double>(w.frames);
  const auto upper = static_cast<double>(m.lstm_layers - 1);
  all.push_back({w.vehicles, d, 4 * h, frames});
  all.push_back({w.vehicles, 4 * h, d, frames});
  all.push_back({4 * h, n, d, 1});
  all.push_back({w.vehicles, h, 4 * h, upper * frames + (upper + 1) * (frames - 1)});
  all.push_back({w.vehicles, 4 * h, h, upper * frames + (upper + 1) * (frames - 1)});
  all.push_back({4 * h, n, h, upper});
  all.push_back({4 * h, n - w.vehicles, h, upper + 1});
  return all;
}

/// Time in ms of a matrix product of this shape. It is divided into blocks as in the fused layers,
/// and its operands are in the cache.
template <typename T>
double product_ms(const Product& p) {
  const std::int64_t rows = std::min(model::kBlockRows, p.rows);
  const std::int64_t depth = std::min<std::int64_t>(p.depth, 1024);
  const at::Tensor a = at::zeros({rows, depth * static_cast<std::int64_t>(sizeof(T))}, at::kByte);
  const at::Tensor b =
      at::zeros({depth, p.columns * static_cast<std::int64_t>(sizeof(T))}, at::kByte);
  const at::Tensor c = at::zeros({rows, p.columns});
  const auto operand =
      model::plain_operand<T>(static_cast<const T*>(b.data_ptr()), depth, p.columns, p.columns);
  double best = 1e30;
  for (int i = 0; i < 40; ++i) {
    const double start = cpu_ms();
    model::multiply<T>({static_cast<const T*>(a.data_ptr()), depth}, rows, operand,
                       {c.data_ptr<float>(), p.columns}, false);
    best = std::min(best, cpu_ms() - start);
  }
  return best * static_cast<double>(p.rows) / static_cast<double>(rows) *
         static_cast<double>(p.depth) / static_cast<double>(depth);
}

class Adam {
 public:
  explicit Adam(const std::vector<torch::Tensor>& parameters) : parameters_(parameters) {
    for (const auto& p : parameters_) {
      p.mutable_grad() = torch::zeros_like(p);
      grads_.push_back(p.grad());
      first_.push_back(torch::zeros_like(p));
      second_.push_back(torch::zeros_like(p));
      steps_.push_back(torch::zeros({}));
    }
  }
  void step() {
    const torch::NoGradGuard no_grad;
    const double norm = torch::stack(at::_foreach_norm(grads_)).norm().item<double>();
    if (norm > 1.0) at::_foreach_mul_(grads_, 1.0 / norm);
    at::_foreach_add_(steps_, 1.0);
    at::_fused_adam_(parameters_, grads_, first_, second_, {}, steps_, 1e-3, 0.9, 0.999, 1e-4, 1e-8,
                     false, false);
    at::_foreach_zero_(grads_);
  }

 private:
  std::vector<torch::Tensor> parameters_, grads_, first_, second_, steps_;
};

struct StepTimes {
  double encoder = 0, world = 0, world_back = 0, encoder_back = 0, adam = 0, loss = 0;
  [[nodiscard]] double total() const { return encoder + world + world_back + encoder_back + adam; }
};

StepTimes run_step(model::GraphEncoder& encoder, model::WorldModel& world, Adam& adam,
                   const benchmarks::Windows& w) {
  StepTimes t;
  const double start = cpu_ms();
  torch::Tensor h = encoder->forward(w.graph);
  const double encoded = cpu_ms();
  double reached_encoder = 0;
  h.register_hook([&](const torch::Tensor&) { reached_encoder = cpu_ms(); });
  const auto loss =
      model::world_model_loss(world->forward(h.view({w.frames, w.vehicles, -1})), w.targets, 2);
  const double forward = cpu_ms();
  loss.total.backward();
  const double backward = cpu_ms();
  adam.step();
  const double done = cpu_ms();
  t = {encoded - start,           forward - encoded,
       reached_encoder - forward, backward - reached_encoder,
       done - backward,           loss.total.item<double>()};
  return t;
}

/// Time and arithmetic of the products of a step.
struct Bound {
  double ms = 0;
  double gflop = 0;
};
Bound gemm_bound(const config::Model& m, const benchmarks::Windows& w, bool bf16) {
  Bound bound;
  for (const Product& p : products(m, w)) {
    bound.gflop += p.gflop() * p.times;
    bound.ms += p.times * (bf16 ? product_ms<Bf16>(p) : product_ms<float>(p));
  }
  return bound;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const bool only_bound = !arguments.empty() && arguments[0] == "--gemm-bound";
  if (only_bound) arguments.erase(arguments.begin());
  const std::string size = !arguments.empty() ? arguments[0] : "full";
  const bool bf16 = arguments.size() > 1 && arguments[1] == "bf16";
  const int steps = arguments.size() > 2 ? std::stoi(arguments[2]) : 8;
  at::set_num_threads(1);
  config::Model m;
  if (size == "small") m = {.hidden_dim = 64, .gnn_layers = 2, .num_heads = 4};
  constexpr std::int64_t kBatch = 32;
  const auto w = benchmarks::make_windows(kBatch);
  const Bound bound = gemm_bound(m, w, bf16);
  if (only_bound) {
    fmt::print("{:.1f}\n", kBatch / bound.ms * 1e3);
    return 0;
  }
  model::GraphEncoder encoder(m, w.graph.node_features.size(1));
  model::WorldModel world(m, 5);
  model::initialise(*encoder, 1);
  model::initialise(*world, 2);
  encoder->set_compute_type(bf16 ? torch::kBFloat16 : torch::kFloat);
  world->set_compute_type(bf16 ? torch::kBFloat16 : torch::kFloat);
  auto parameters = encoder->parameters();
  for (const auto& p : world->parameters()) parameters.push_back(p);
  std::int64_t count = 0;
  for (const auto& p : parameters) count += p.numel();
  Adam adam(parameters);

  std::vector<StepTimes> times;
  for (int i = 0; i < steps + 2; ++i) {
    const StepTimes t = run_step(encoder, world, adam, w);
    if (i >= 2) times.push_back(t);
  }
  std::sort(times.begin(), times.end(),
            [](const auto& a, const auto& b) { return a.total() < b.total(); });
  const StepTimes& best = times.front();
  fmt::print(
      "{} {}: {} parameters, best {:.1f} ms ({:.1f} samples/s), median {:.1f} ms; encoder {:.1f} + "
      "{:.1f}, "
      "world model and loss {:.1f} + {:.1f} (forward + backward), Adam {:.1f} ms; {:.1f} GFLOP in "
      "products, alone "
      "{:.1f} ms ({:.0f} GFLOP/s); loss {:.4f}\n",
      size, bf16 ? "bf16" : "fp32", count, best.total(), kBatch / best.total() * 1e3,
      times[times.size() / 2].total(), best.encoder, best.encoder_back, best.world, best.world_back,
      best.adam, bound.gflop, bound.ms, bound.gflop / bound.ms * 1e3, times.back().loss);
  return 0;
}
