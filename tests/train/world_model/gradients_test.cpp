/// Compares the gradients of the whole model of phase 1 that several ranks compute together,
/// through communicator, arena and reducer, with those that one rank computes from the joined
/// batch. The tests run on 1, 2 and 3 ranks.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <span>
#include <vector>

#include "mpi_main.h"
#include "traffic/comm/gradient_reducer.h"
#include "traffic/core/random.h"
#include "traffic/scene/frame.h"
#include "train/world_model/fixture.h"
#include "train/world_model/networks.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: helpers of fixture.h
using torch::Tensor;

/// A batch of one sample. Its content depends only on the arguments, not on the rank.
data::Batch make_sample(std::int64_t index, std::int64_t vehicles, float weight) {
  Rng rng(100 + static_cast<std::uint64_t>(index));
  torch::manual_seed(100 + static_cast<std::uint64_t>(index));
  data::Batch b;
  b.node_features =
      torch::randn({kFrames, vehicles, static_cast<std::int64_t>(scene::node_features().size())});
  b.present = torch::rand({kFrames, vehicles}) < 0.8;
  b.present[kFrames - 1].fill_(true);
  b.node_features.mul_(b.present.unsqueeze(2));
  std::vector<std::int32_t> ptr{0};
  std::vector<std::int32_t> src;
  for (std::int64_t row = 0; row < kFrames * vehicles; ++row) {
    const auto first = static_cast<std::int32_t>(row / vehicles * vehicles);
    std::vector<std::int32_t> others(static_cast<std::size_t>(vehicles));
    std::iota(others.begin(), others.end(), first);
    rng.shuffle(std::span(others));
    const bool here = b.present.flatten()[row].item<bool>();
    for (std::size_t i = 0; here && i < std::min<std::size_t>(6, others.size()); ++i) {
      if (others[i] != row && b.present.flatten()[others[i]].item<bool>()) src.push_back(others[i]);
    }
    ptr.push_back(static_cast<std::int32_t>(src.size()));
  }
  b.edge_ptr = torch::tensor(ptr, torch::kInt);
  b.edge_src = torch::tensor(src, torch::kInt);
  b.edge_features = torch::randn({static_cast<std::int64_t>(src.size()), 4});
  b.sample_ptr = torch::tensor({std::int64_t{0}, vehicles}, torch::kInt);
  b.speed_mps = 10 + torch::randn({vehicles});
  b.acceleration_mps2 = torch::randn({vehicles});
  b.lane = torch::zeros({vehicles});
  b.future_displacement_m = 10 + torch::randn({vehicles, kHorizon});
  b.future_speed_mps = 10 + torch::randn({vehicles, kHorizon});
  b.future_acceleration_mps2 = torch::randn({vehicles, kHorizon});
  b.future_lane = torch::zeros({vehicles, kHorizon});
  b.future_mask = torch::rand({vehicles, kHorizon}) < 0.8;
  b.conflict = (torch::rand({vehicles}) < 0.3).to(torch::kFloat);
  b.conflict_mask = torch::rand({vehicles}) < 0.9;
  b.sample_id = torch::tensor({index}, torch::kLong);
  b.sample_weight = torch::tensor({weight});
  return b;
}

/// Joins samples into one batch in the order of the loader: sorted by frame, then by sample.
data::Batch join(const std::vector<data::Batch>& samples) {
  const auto all = [&](Tensor data::Batch::*field, std::int64_t dim = 0) {
    std::vector<Tensor> parts;
    for (const auto& s : samples) parts.push_back(s.*field);
    return torch::cat(parts, dim);
  };
  data::Batch b;
  b.node_features = all(&data::Batch::node_features, 1);
  b.present = all(&data::Batch::present, 1);
  std::vector<std::int32_t> ptr{0};
  std::vector<Tensor> src;
  std::vector<Tensor> features;
  std::int64_t base = 0;
  for (std::int64_t t = 0; t < kFrames; ++t) {
    for (const auto& s : samples) {
      const std::int64_t n = s.num_vehicles();
      for (std::int64_t i = 0; i < n; ++i) {
        const auto first = s.edge_ptr[t * n + i].item<std::int64_t>();
        const auto last = s.edge_ptr[t * n + i + 1].item<std::int64_t>();
        ptr.push_back(ptr.back() + static_cast<std::int32_t>(last - first));
        src.push_back(s.edge_src.slice(0, first, last) + (base - t * n));
        features.push_back(s.edge_features.slice(0, first, last));
      }
      base += n;
    }
  }
  b.edge_ptr = torch::tensor(ptr, torch::kInt);
  b.edge_src = torch::cat(src).to(torch::kInt);
  b.edge_features = torch::cat(features);
  std::vector<std::int32_t> sample_ptr{0};
  for (const auto& s : samples)
    sample_ptr.push_back(sample_ptr.back() + static_cast<std::int32_t>(s.num_vehicles()));
  b.sample_ptr = torch::tensor(sample_ptr, torch::kInt);
  for (const auto field :
       {&data::Batch::speed_mps, &data::Batch::acceleration_mps2, &data::Batch::lane,
        &data::Batch::future_displacement_m, &data::Batch::future_speed_mps,
        &data::Batch::future_acceleration_mps2, &data::Batch::future_lane,
        &data::Batch::future_mask, &data::Batch::conflict, &data::Batch::conflict_mask,
        &data::Batch::sample_id, &data::Batch::sample_weight}) {
    b.*field = all(field);
  }
  return b;
}

/// Gradient of the loss over the batch, computed by this rank alone, in the arena's layout.
Tensor alone(const config::Config& config, const data::Batch& batch, Stage stage) {
  WorldModelNetworks model(config, 1.0, torch::kCPU);
  model.forward(batch, stage).loss.backward();
  comm::NamedTensors gradients;
  for (const auto& [name, parameter] : model.trainable_parameters()) {
    const Tensor& g = parameter.grad();
    gradients.emplace_back(name, g.defined() ? g.clone() : torch::zeros_like(parameter));
  }
  return comm::ParameterArena(gradients).flat().clone();
}

/// The same gradient computed by all ranks, each with its own samples in several parts.
Tensor together(const config::Config& config, const std::vector<data::Batch>& parts, Stage stage) {
  const auto communicator =
      comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, config.comm);
  WorldModelNetworks model(config, 1.0, torch::kCPU);
  const comm::ParameterArena parameters(model.trainable_parameters());
  comm::GradientArena gradients(parameters, *communicator);
  comm::GradientReducer reducer(
      *communicator, gradients,
      {.accumulation_steps = static_cast<std::int64_t>(parts.size()), .clip_norm = 1.0});
  gradients.zero();
  std::optional<comm::ReduceResult> result;
  for (const data::Batch& part : parts) {
    const double factor = reducer.before_backward(vehicle_weights(part).sum().item<double>());
    (model.forward(part, stage).loss * factor).backward();
    result = reducer.after_backward();
  }
  EXPECT_TRUE(result->finite);
  const Tensor reduced = gradients.flat().clone();
  // The norm is a float32 sum of partial sums.
  EXPECT_NEAR(result->grad_norm, reduced.norm().item<double>(), 1e-4 * result->grad_norm);
  comm::check_replicas_equal(*communicator, reduced, "gradients");
  return reduced;
}

struct Case {
  const char* precision;
  Stage stage;
};
class WorldModelGradients : public ::testing::TestWithParam<Case> {
 protected:
  void expect_equal(const Tensor& reduced, const Tensor& whole) {
    // With float32, sums over vehicles are taken in parts instead of at once, and each is rounded
    // to 2^-24. With bf16 a row is usually rounded equally on all ranks, but another number of rows
    // may use another kernel, whose float may be rounded the other way.
    const double tolerance = std::string(GetParam().precision) == "bf16" ? 1e-3 : 1e-5;
    const double error = (reduced - whole).norm().item<double>() / whole.norm().item<double>();
    EXPECT_LT(error, tolerance);
  }
};

/// All samples, some with odd numbers of vehicles, and this rank's share of them.
struct Shares {
  std::vector<data::Batch> all;
  std::vector<data::Batch> mine;
};
Shares deal_samples() {
  const auto& session = traffic::testing::mpi_session();
  Shares shares;
  for (const std::int64_t vehicles : {3, 16, 9, 21, 1, 40}) {
    const auto i = static_cast<std::int64_t>(shares.all.size());
    shares.all.push_back(make_sample(i, vehicles, 1.0F));
    if (i % session.size() == session.rank()) shares.mine.push_back(shares.all.back());
  }
  return shares;
}

TEST_P(WorldModelGradients, OfAllRanksAreThoseOfOneRankOnTheJoinedBatch) {
  const config::Config config = small_config(GetParam().precision);
  const Shares shares = deal_samples();
  expect_equal(together(config, {join(shares.mine)}, GetParam().stage),
               alone(config, join(shares.all), GetParam().stage));
}

TEST_P(WorldModelGradients, AccumulatedOverPartsAreThoseOfTheJoinedBatch) {
  const config::Config config = small_config(GetParam().precision);
  const Shares shares = deal_samples();
  const std::vector<data::Batch> rest(shares.mine.begin() + 1, shares.mine.end());
  expect_equal(together(config, {shares.mine.front(), join(rest), make_sample(7, 11, 0.0F)},
                        GetParam().stage),
               alone(config, join(shares.all), GetParam().stage));
}

TEST_P(WorldModelGradients, OfARankWithNothingButARepeatedSampleDoNotCount) {
  const auto& session = traffic::testing::mpi_session();
  const config::Config config = small_config(GetParam().precision);
  const data::Batch real = make_sample(0, 17, 1.0F);
  const data::Batch repeated = make_sample(1, 11, 0.0F);
  expect_equal(together(config, {session.rank() == 0 ? real : repeated}, GetParam().stage),
               alone(config, real, GetParam().stage));
}

INSTANTIATE_TEST_SUITE_P(Cases, WorldModelGradients,
                         ::testing::Values(Case{"fp32", Stage::kNextState},
                                           Case{"fp32", Stage::kFuture},
                                           Case{"bf16", Stage::kFuture}));

}  // namespace
}  // namespace traffic::train
