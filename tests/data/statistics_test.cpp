#include "traffic/data/statistics.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "synthetic.h"
#include "traffic/core/error.h"

namespace traffic::data {
namespace {

using test::TempDir;
using Frames = std::vector<scene::GraphFrame>;

float feature(const scene::GraphFrame& frame, std::size_t node, std::string_view name) {
  return frame.node_features[node * scene::node_features().size() +
                             static_cast<std::size_t>(scene::node_feature_index(name))];
}

std::ptrdiff_t node_of(const scene::GraphFrame& frame, std::uint32_t id) {
  const auto found = std::find(frame.vehicle_id.begin(), frame.vehicle_id.end(), id);
  return found == frame.vehicle_id.end() ? -1 : found - frame.vehicle_id.begin();
}

/// Calls `use(frame, node, vehicle_id)` for all vehicles in the frames after which at least
/// `horizon` further frames follow.
template <typename Use>
void for_each_future(const Frames& frames, std::size_t horizon, Use use) {
  for (std::size_t t = 0; t + horizon < frames.size(); ++t) {
    for (std::size_t node = 0; node < frames[t].vehicle_id.size(); ++node) {
      use(t, node, frames[t].vehicle_id[node]);
    }
  }
}

class StatisticsTest : public testing::Test {
 protected:
  StatisticsTest() {
    test::write_file(dir_ / "a.h5", {{spec_[0]}, {spec_[1], Split::kTest}});
    for (const auto& spec : spec_) episodes_.push_back(test::make_traffic(spec));
  }
  const std::vector<test::TrafficSpec> spec_{{.seed = 1, .frames = 100, .vehicles = 30},
                                             {.seed = 2, .frames = 30, .vehicles = 10}};
  TempDir dir_;
  std::vector<Frames> episodes_;
};

TEST_F(StatisticsTest, MomentsEqualThoseOfThePlainFormula) {
  Statistics statistics({});
  statistics.add(DatasetReader(dir_ / "a.h5"));
  std::vector<double> speeds;
  for (const auto& frames : episodes_) {
    for (const auto& frame : frames) {
      for (std::size_t node = 0; node < frame.vehicle_id.size(); ++node) {
        speeds.push_back(feature(frame, node, kSpeedFeature));
      }
    }
  }
  double sum = 0;
  for (const double v : speeds) sum += v;
  const double mean = sum / static_cast<double>(speeds.size());
  double squares = 0;
  for (const double v : speeds) squares += (v - mean) * (v - mean);
  const Moments& found =
      statistics.node_moments()[static_cast<std::size_t>(scene::node_feature_index(kSpeedFeature))];
  EXPECT_EQ(found.count(), static_cast<std::int64_t>(speeds.size()));
  EXPECT_NEAR(found.mean(), mean, 1e-9 * std::abs(mean));  // the order of summation differs
  EXPECT_NEAR(found.standard_deviation(),
              std::sqrt(squares / static_cast<double>(speeds.size() - 1)), 1e-9 * mean);
  EXPECT_EQ(found.max(), *std::max_element(speeds.begin(), speeds.end()));
  EXPECT_EQ(statistics.vehicles_per_frame().count(), 130);
}

TEST_F(StatisticsTest, ConflictRatesEqualThePlainComputation) {
  constexpr std::size_t kHorizon = 4;
  Statistics statistics(
      {.horizon_frames = kHorizon, .ttc_limits_s = {1.0, 2.5}, .horizons_s = {1}});
  statistics.add(DatasetReader(dir_ / "a.h5"));
  std::int64_t labelled = 0;
  std::vector<std::int64_t> positive(2, 0);
  for (const auto& frames : episodes_) {
    for_each_future(frames, kHorizon, [&](std::size_t t, std::size_t, std::uint32_t id) {
      bool any = false;
      std::vector<bool> conflict(2, false);
      for (std::size_t h = 1; h <= kHorizon; ++h) {
        const auto then = node_of(frames[t + h], id);
        if (then < 0) continue;
        any = true;
        const auto node = static_cast<std::size_t>(then);
        const double closing = -feature(frames[t + h], node, kLeaderRelativeSpeedFeature);
        const double gap = feature(frames[t + h], node, kLeaderGapFeature);
        if (closing > 0 && gap / closing < 1.0) conflict[0] = true;
        if (closing > 0 && gap / closing < 2.5) conflict[1] = true;
      }
      labelled += any ? 1 : 0;
      for (std::size_t i = 0; i < 2; ++i) positive[i] += conflict[i] ? 1 : 0;
    });
  }
  ASSERT_GT(positive[0], 0);
  EXPECT_EQ(statistics.labelled(), labelled);
  EXPECT_EQ(statistics.base_rates()[0].positive, positive[0]);
  EXPECT_EQ(statistics.base_rates()[1].positive, positive[1]);
}

TEST_F(StatisticsTest, ConstantSpeedErrorsEqualThePlainComputation) {
  Statistics statistics({.horizons_s = {1.0, 5.0}});
  statistics.add(DatasetReader(dir_ / "a.h5"));
  for (const auto& error : statistics.constant_speed()) {
    const auto horizon = static_cast<std::size_t>(error.frames);
    double squares = 0;
    std::int64_t count = 0;
    for (const auto& frames : episodes_) {
      for_each_future(frames, horizon, [&](std::size_t t, std::size_t node, std::uint32_t id) {
        const auto then = node_of(frames[t + horizon], id);
        if (then < 0) return;
        const double moved =
            feature(frames[t + horizon], static_cast<std::size_t>(then), kPositionFeature) -
            feature(frames[t], node, kPositionFeature);
        const double miss = moved - feature(frames[t], node, kSpeedFeature) * error.seconds;
        squares += miss * miss;
        ++count;
      });
    }
    EXPECT_EQ(error.count, count);
    // The tolerance covers the rounding of float32 positions, which are subtracted in another
    // order.
    EXPECT_NEAR(error.rmse_m(), std::sqrt(squares / static_cast<double>(count)), 1e-3);
  }
}

TEST_F(StatisticsTest, FilesOfDifferentKindsAreNotMixed) {
  FileInfo info = test::test_info();
  info.frame_interval_s = 0.5;
  {
    DatasetWriter writer(dir_ / "b.h5", info, {});
    writer.begin_episode({.seed = 1});
    writer.append(episodes_[0][0]);
    writer.end_episode();
    writer.finish();
  }
  Statistics statistics({});
  statistics.add(DatasetReader(dir_ / "a.h5"));
  EXPECT_THROW(statistics.add(DatasetReader(dir_ / "b.h5")), DataError);
}

}  // namespace
}  // namespace traffic::data
