#include "traffic/rl/plackett_luce.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <vector>

#include "helpers.h"
#include "support/uniforms.h"
#include "traffic/core/error.h"

namespace traffic::rl {
namespace {

using test::draw_uniforms;
using testing::distance;
using testing::f64;
using testing::i64;

using Selection = std::vector<std::int64_t>;

/// Every ordered selection of `top_k` of `weights.size()` candidates with its probability by
/// definition: each pick is proportional to its weight among the remaining candidates.
std::map<Selection, double> enumerate(const std::vector<double>& weights, std::size_t top_k) {
  std::map<Selection, double> all{{{}, 1.0}};
  for (std::size_t k = 0; k < std::min(top_k, weights.size()); ++k) {
    std::map<Selection, double> longer;
    for (const auto& [picks, probability] : all) {
      double left = 0.0;
      std::vector<std::int64_t> free;
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const auto place = static_cast<std::int64_t>(i);
        if (std::find(picks.begin(), picks.end(), place) != picks.end()) continue;
        left += weights[i];
        free.push_back(place);
      }
      for (const std::int64_t place : free) {
        Selection next = picks;
        next.push_back(place);
        longer[next] = probability * weights[static_cast<std::size_t>(place)] / left;
      }
    }
    all = std::move(longer);
  }
  return all;
}

PlackettLuce one_state(const std::vector<double>& scores) {
  return {f64(scores), Segments(i64({0, static_cast<std::int64_t>(scores.size())}))};
}

std::vector<double> exp_of(const std::vector<double>& scores) {
  std::vector<double> weights;
  for (const double score : scores) weights.push_back(std::exp(score));
  return weights;
}

TEST(PlackettLuce, LogProbEqualsThatOfTheEnumeration) {
  const std::vector<double> scores{0.3, -1.2, 2.0, 0.0};
  for (const std::size_t top_k : {1U, 2U, 3U, 4U}) {
    double total = 0.0;
    for (const auto& [picks, probability] : enumerate(exp_of(scores), top_k)) {
      const double got = one_state(scores).log_prob(i64(picks).unsqueeze(0)).item<double>();
      EXPECT_NEAR(got, std::log(probability), 1e-12);  // rounding of four doubles of order 1
      total += std::exp(got);
    }
    EXPECT_NEAR(total, 1.0, 1e-12);
  }
}

TEST(PlackettLuce, APackedStateDoesNotDependOnTheOthers) {
  const torch::Tensor scores = f64({0.3, -1.2, 2.0, 0.5, 0.1, -0.4, 0.9});
  const PlackettLuce packed(scores, Segments(i64({0, 3, 3, 4, 7})));
  const torch::Tensor picks = i64({2, 0, -1, -1, 0, -1, 1, 2}).view({4, 2});
  const torch::Tensor log_prob = packed.log_prob(picks);
  EXPECT_NEAR(log_prob[0].item<double>(),
              one_state({0.3, -1.2, 2.0}).log_prob(i64({2, 0}).view({1, 2})).item<double>(), 1e-14);
  EXPECT_EQ(log_prob[1].item<double>(), 0.0);
  EXPECT_EQ(log_prob[2].item<double>(), 0.0);
  EXPECT_NEAR(log_prob[3].item<double>(),
              one_state({0.1, -0.4, 0.9}).log_prob(i64({1, 2}).view({1, 2})).item<double>(), 1e-14);
  const torch::Tensor entropy = packed.entropy();
  EXPECT_EQ(entropy[1].item<double>(), 0.0);
  EXPECT_EQ(entropy[2].item<double>(), 0.0);
  EXPECT_NEAR(entropy[3].item<double>(), one_state({0.1, -0.4, 0.9}).entropy().item<double>(),
              1e-14);
}

TEST(PlackettLuce, EntropyIsThatOfTheFirstPick) {
  const std::vector<double> scores{0.3, -1.2, 2.0};
  double expected = 0.0;
  for (const auto& [picks, p] : enumerate(exp_of(scores), 1)) expected -= p * std::log(p);
  EXPECT_NEAR(one_state(scores).entropy().item<double>(), expected, 1e-14);
}

TEST(PlackettLuce, SamplesWithTheProbabilitiesOfTheEnumeration) {
  const std::vector<double> scores{0.3, -1.2, 2.0, 0.0};
  constexpr std::int64_t kDraws = 20000;
  std::vector<std::int64_t> ptr;
  for (std::int64_t b = 0; b <= kDraws; ++b) ptr.push_back(4 * b);
  const PlackettLuce many(f64(scores).repeat({kDraws}), Segments(i64(ptr)));
  Rng rng(7);
  const torch::Tensor picks = many.sample(draw_uniforms(rng, {4 * kDraws}).to(torch::kFloat64), 2);

  std::map<Selection, std::int64_t> counts;
  for (std::int64_t b = 0; b < kDraws; ++b) {
    const auto* row = picks.const_data_ptr<std::int64_t>() + 2 * b;
    ++counts[{row[0], row[1]}];
  }
  double chi_square = 0.0;
  const auto expected = enumerate(exp_of(scores), 2);
  for (const auto& [selection, probability] : expected) {
    const double mean = probability * kDraws;
    chi_square += std::pow(static_cast<double>(counts[selection]) - mean, 2) / mean;
  }
  EXPECT_EQ(counts.size(), expected.size());  // no other outcome was drawn
  // 12 outcomes: 11 degrees of freedom; exceeded by chance for 0.1 % of seeds.
  EXPECT_LT(chi_square, 31.26);
}

TEST(PlackettLuce, PicksAllCandidatesIfTheyAreFewerThanK) {
  const PlackettLuce packed(f64({1, 2, 3}), Segments(i64({0, 1, 1, 3})));
  Rng rng(3);
  const torch::Tensor picks = packed.sample(draw_uniforms(rng, {3}).to(torch::kFloat64), 4);
  EXPECT_EQ(picks.sizes(), torch::IntArrayRef({3, 4}));
  EXPECT_TRUE(torch::equal((picks >= 0).sum(1), i64({1, 0, 2})));
  EXPECT_TRUE(torch::equal(std::get<0>(picks[2].sort()), i64({-1, -1, 0, 1})));
}

TEST(PlackettLuce, AcceptsStatesWithoutCandidates) {
  const PlackettLuce none(f64({}), Segments(i64({0, 0, 0})));
  const torch::Tensor picks = none.sample(f64({}), 3);
  EXPECT_TRUE(torch::equal(picks, torch::full({2, 3}, -1, torch::kInt64)));
  EXPECT_TRUE(torch::equal(none.log_prob(picks), f64({0, 0})));
  EXPECT_TRUE(torch::equal(none.entropy(), f64({0, 0})));
}

TEST(PlackettLuce, GreedyTakesTheHighestScoresAndTheEarlierOfEqualOnes) {
  const PlackettLuce packed(f64({1, 3, 2, 5, 5}), Segments(i64({0, 3, 5})));
  EXPECT_TRUE(torch::equal(packed.greedy(2), i64({1, 2, 0, 1}).view({2, 2})));
}

TEST(PlackettLuce, StaysExactWhenTheFirstPickHeldNearlyAllProbability) {
  // exp(-200) underflows in float32: sums computed as differences would leave 0 for the rest.
  const PlackettLuce steep(torch::tensor({200.F, 0.F, 1.F}), Segments(i64({0, 3})));
  const double got = steep.log_prob(i64({0, 1, 2}).view({1, 3})).item<double>();
  EXPECT_NEAR(got, -std::log(1 + std::exp(1.0)), 1e-6);  // float32 of order 1
}

TEST(PlackettLuce, GradientsEqualFiniteDifferences) {
  const Segments segments(i64({0, 4, 4, 5, 8}));
  const torch::Tensor picks = i64({2, 0, -1, -1, 0, -1, 2, 0}).view({4, 2});
  const torch::Tensor weight = f64({1.0, 2.0, -1.5, 0.7});
  const torch::Tensor scores = testing::noise(11, {8});
  testing::expect_gradient(
      [&](const torch::Tensor& x) {
        return (PlackettLuce(x, segments).log_prob(picks) * weight).sum();
      },
      scores);
  testing::expect_gradient(
      [&](const torch::Tensor& x) { return (PlackettLuce(x, segments).entropy() * weight).sum(); },
      scores);
}

TEST(PlackettLuce, TheSameUniformsGiveTheSamePicks) {
  const torch::Tensor scores = testing::noise(1, {6});
  const PlackettLuce packed(scores, Segments(i64({0, 4, 6})));
  Rng first(9);
  Rng second(9);
  const torch::Tensor a = packed.sample(draw_uniforms(first, {6}).to(torch::kFloat64), 3);
  const torch::Tensor b = packed.sample(draw_uniforms(second, {6}).to(torch::kFloat64), 3);
  EXPECT_TRUE(torch::equal(a, b));
}

TEST(PlackettLuce, UniformsOfZeroAndJustUnderOneGiveValidPicks) {
  const PlackettLuce state(torch::zeros({3}), Segments(i64({0, 3})));
  const torch::Tensor picks = state.sample(torch::tensor({0.F, 0.5F, 1.F - 0x1p-24F}), 3);
  EXPECT_TRUE(torch::equal(picks, i64({2, 1, 0}).view({1, 3})));
}

TEST(PlackettLuce, RefusesTensorsOfOtherShapes) {
  const Segments segments(i64({0, 3}));
  EXPECT_THROW(PlackettLuce(f64({1, 2}), segments), ShapeError);
  const PlackettLuce state(f64({1, 2, 3}), segments);
  EXPECT_THROW(static_cast<void>(state.log_prob(i64({3}).view({1, 1}))), ShapeError);
  EXPECT_THROW(static_cast<void>(state.log_prob(i64({0, 1}).view({2, 1}))), ShapeError);
  EXPECT_THROW(static_cast<void>(state.sample(f64({0.5}), 2)), ShapeError);
  EXPECT_THROW(static_cast<void>(state.greedy(0)), ShapeError);
}

}  // namespace
}  // namespace traffic::rl
