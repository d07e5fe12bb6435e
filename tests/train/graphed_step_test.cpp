#include "train/graphed_step.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>

namespace traffic::train {
namespace {

/// What a recorder was asked for.
struct Calls {
  int warm_ups = 0;
  int recordings = 0;
  int replays = 0;
  int resets = 0;
  bool fails = false;
};

/// As a CUDA graph does it: recording is not doing.
class FakeRecorder final : public Recorder {
 public:
  explicit FakeRecorder(Calls& calls) : calls_(calls) {}
  void warm_up(const Work& work) override {
    ++calls_.warm_ups;
    work();
  }
  void record(const Work& work) override {
    ++calls_.recordings;
    if (calls_.fails) throw std::runtime_error("operation not permitted while recording");
    work_ = work;
  }
  void replay() override {
    ++calls_.replays;
    work_();
  }
  void reset() override {
    ++calls_.resets;
    work_ = nullptr;
  }

 private:
  Calls& calls_;
  Work work_;
};

class AGraphedStep : public ::testing::Test {
 protected:
  /// @return times that the work was done
  int run(int times) {
    const int before = done_;
    for (int i = 0; i < times; ++i) step_.run([this] { ++done_; });
    return done_ - before;
  }

  Calls calls_;
  GraphedStep step_{std::make_unique<FakeRecorder>(calls_)};
  int done_ = 0;
};

TEST_F(AGraphedStep, DoesTheWorkOnceEachTimeAndRecordsItOnce) {
  EXPECT_EQ(run(GraphedStep::kWarmUps), GraphedStep::kWarmUps);
  EXPECT_EQ(calls_.recordings, 0);
  EXPECT_FALSE(step_.has_recording());
  EXPECT_EQ(run(5), 5);
  EXPECT_EQ(calls_.warm_ups, GraphedStep::kWarmUps);
  EXPECT_EQ(calls_.recordings, 1);
  EXPECT_EQ(calls_.replays, 5);
  EXPECT_TRUE(step_.has_recording());
}

TEST_F(AGraphedStep, WarmsUpAndRecordsAnewAfterItsTensorsHaveMoved) {
  run(GraphedStep::kWarmUps + 1);
  step_.forget();
  EXPECT_EQ(calls_.resets, 1);
  EXPECT_FALSE(step_.has_recording());
  EXPECT_EQ(run(GraphedStep::kWarmUps + 2), GraphedStep::kWarmUps + 2);
  EXPECT_EQ(calls_.warm_ups, 2 * GraphedStep::kWarmUps);
  EXPECT_EQ(calls_.recordings, 2);
}

TEST_F(AGraphedStep, GoesOnWithoutARecordingWhereThatFailsAndDoesNotTryAgain) {
  calls_.fails = true;
  EXPECT_EQ(run(10), 10);
  EXPECT_EQ(calls_.recordings, 1);
  EXPECT_FALSE(step_.has_recording());
  calls_.fails = false;
  step_.forget();
  EXPECT_EQ(run(10), 10);
  EXPECT_EQ(calls_.recordings, 1);
  EXPECT_EQ(calls_.replays, 0);
}

TEST_F(AGraphedStep, LetsThroughWhatGoesWrongInTheWorkItself) {
  EXPECT_THROW(step_.run([] { throw std::runtime_error("out of memory"); }), std::runtime_error);
}

}  // namespace
}  // namespace traffic::train
