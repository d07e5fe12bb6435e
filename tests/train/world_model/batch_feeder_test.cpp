#include "train/world_model/batch_feeder.h"

#include <gtest/gtest.h>
#include <torch/types.h>

#include <vector>

#include "apps/train_fixture.h"
#include "traffic/data/windows.h"

namespace traffic::train {
namespace {

class BatchFeederTest : public test::RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    test::write_train_data(dir_ / "row.h5");
    config_.files = {(dir_ / "row.h5").string()};
    config_.batch_size = 5;
    config_.sample_stride_frames = 5;
    config_.history_frames = 4;
    config_.horizon_frames = 3;
    const data::OpenedFiles opened = data::open_data_files(config_);
    dataset_ = std::make_shared<data::Dataset>(opened.files, data::Split::kTrain,
                                               data::window_options(config_));
  }

  [[nodiscard]] std::unique_ptr<data::TrafficLoader> loader() const {
    return std::make_unique<data::TrafficLoader>(
        data::traffic_batches(dataset_, data::batch_options(config_, 3, false)),
        data::LoaderOptions{.data = config_, .seed = 3});
  }
  static std::vector<std::int64_t> ids(const FedBatch& fed) {
    const at::Tensor& ids = fed.batch.sample_id;
    return {ids.data_ptr<std::int64_t>(), ids.data_ptr<std::int64_t>() + ids.numel()};
  }
  /// The remaining batches. The feeder prepares some of them before they are requested.
  static std::vector<std::vector<std::int64_t>> rest(BatchFeeder& feeder) {
    std::vector<std::vector<std::int64_t>> all;
    bool prepares = false;
    while (const auto fed = feeder.next()) {
      prepares = !prepares;
      if (prepares) feeder.prepare();
      all.push_back(ids(*fed));
    }
    return all;
  }

  config::Data config_;
  std::shared_ptr<const data::Dataset> dataset_;
};

TEST_F(BatchFeederTest, BatchesPreparedAheadEqualThoseMadeOnRequest) {
  const auto first = loader();
  const auto second = loader();
  BatchFeeder asked(*first, at::kCPU);
  BatchFeeder ahead(*second, at::kCPU, comm::make_side_stream(at::kCPU));
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    asked.start_epoch(epoch);
    ahead.start_epoch(epoch);
    EXPECT_EQ(rest(asked), rest(ahead));
    EXPECT_FALSE(ahead.next().has_value());
  }
}

TEST_F(BatchFeederTest, StateAndStepsLeftCountOnlyBatchesGivenOut) {
  const auto reading = loader();
  BatchFeeder feeder(*reading, at::kCPU, comm::make_side_stream(at::kCPU));
  feeder.start_epoch(0);
  const std::int64_t steps = feeder.steps_left();
  ASSERT_GT(steps, 3);
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(feeder.next().has_value());
  feeder.prepare();
  EXPECT_EQ(feeder.steps_left(), steps - 2);
  const data::SamplerState state = feeder.state();
  const auto whole = rest(feeder);
  EXPECT_EQ(feeder.steps_left(), 0);
  const auto other = loader();
  BatchFeeder resumed(*other, at::kCPU, comm::make_side_stream(at::kCPU));
  resumed.restore(state);
  EXPECT_EQ(resumed.steps_left(), steps - 2);
  EXPECT_EQ(rest(resumed), whole);
}

TEST_F(BatchFeederTest, ANewEpochDropsBatchesPreparedAhead) {
  const auto reading = loader();
  BatchFeeder feeder(*reading, at::kCPU, comm::make_side_stream(at::kCPU));
  feeder.start_epoch(0);
  const auto whole = rest(feeder);
  feeder.start_epoch(0);
  ASSERT_TRUE(feeder.next().has_value());
  feeder.prepare();
  feeder.start_epoch(0);
  EXPECT_EQ(rest(feeder), whole);
}

TEST_F(BatchFeederTest, CountsVehiclesAndSamples) {
  const auto reading = loader();
  BatchFeeder feeder(*reading, at::kCPU);
  feeder.start_epoch(0);
  const auto fed = feeder.next();
  ASSERT_TRUE(fed.has_value());
  EXPECT_EQ(fed->samples, 5.0);
  EXPECT_EQ(fed->vehicles, static_cast<double>(fed->batch.num_vehicles()));
}

}  // namespace
}  // namespace traffic::train
