/// Tests phase 1 with a scaled loss and with checkpointed layers, on 1 and 2 ranks. Half precision
/// is meant for GPUs; in these tests its ATen operations run on the CPU.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>

#include "apps/train_fixture.h"
#include "model/gemm.h"
#include "mpi_main.h"
#include "traffic/core/error.h"
#include "traffic/model/memory.h"
#include "train/optim/precision.h"
#include "train/world_model/data.h"
#include "train/world_model/fixture.h"
#include "train/world_model/networks.h"
#include "train/world_model/trainer.h"

namespace traffic::train {
namespace {

using namespace testing;  // NOLINT: helpers of fixture.h

constexpr std::int64_t kSteps = 8;
/// The step in which the gradient of the last rank is NaN. Only the test of that fault reaches it.
constexpr std::int64_t kNanStep = 10;

/// Everything that a rank needs for some steps of phase 1.
struct Training {
  explicit Training(const config::Config& c)
      : config(c),
        communicator(comm::make_communicator(traffic::testing::mpi_session(), at::kCPU, c.comm)),
        data(open_world_model_data(config, *communicator)),
        loader(make_train_loader(data, config, *communicator)),
        batches(*loader, at::kCPU),
        model(config, data.train->info().frame_interval_s, at::kCPU),
        trainer(config, model, *communicator, time_split, kSteps) {
    batches.start_epoch(0);
  }
  StepResult step() { return trainer.step(batches); }
  [[nodiscard]] at::Tensor parameters() const { return trainer.parameters().flat().clone(); }

  config::Config config;
  std::unique_ptr<comm::Communicator> communicator;
  WorldModelData data;
  std::unique_ptr<data::TrafficLoader> loader;
  BatchFeeder batches;
  TimeSplit time_split;
  WorldModelNetworks model;
  WorldModelTrainer trainer;
};

class WorldModelPrecision : public ::testing::Test {
 protected:
  static void SetUpTestSuite() {
    // The program reads the variable in its first step.
    const std::string fault =
        fmt::format("train.step:{}:{}:nan", traffic::testing::mpi_session().size() - 1, kNanStep);
    setenv("TRAFFIC_FAULT", fault.c_str(), 1);
  }
  void SetUp() override {
    const int rank = traffic::testing::mpi_session().rank();
    file_ = std::filesystem::temp_directory_path() /
            ("precision-" + std::to_string(getpid()) + "-" + std::to_string(rank) + ".h5");
    test::write_train_data(file_);
  }
  void TearDown() override { std::filesystem::remove(file_); }

  [[nodiscard]] config::Config config(const std::string& precision) const {
    config::Config config = small_config(precision);
    config.data.files = {file_.string()};
    config.data.batch_size = 2;
    config.data.sample_stride_frames = 5;
    config.data.num_workers = 0;
    config.comm.timeout_s = 60;
    return config;
  }

  std::filesystem::path file_;
};

TEST_F(WorldModelPrecision, OverflowsAreSkippedTogetherUntilTheScaleFits) {
  config::Config c = config("fp16");
  c.loss_scale.initial = c.loss_scale.max = 0x1p40;  // far above the largest fp16 number
  c.loss_scale.hysteresis = 1;
  c.loss_scale.backoff_factor = 0x1p-10;
  Training job(c);
  const at::Tensor start = job.parameters();
  const StepResult first = job.step();
  EXPECT_TRUE(first.skipped);
  EXPECT_EQ(first.loss_scale, 0x1p40);
  EXPECT_TRUE(torch::equal(job.parameters(), start));
  StepResult last = first;
  for (int i = 1; i < kSteps && last.skipped; ++i) last = job.step();
  EXPECT_FALSE(last.skipped);
  EXPECT_LT(last.loss_scale, 0x1p40);
  EXPECT_FALSE(torch::equal(job.parameters(), start));
  EXPECT_TRUE(job.parameters().isfinite().all().item<bool>());
  job.communicator->all_agree(std::bit_cast<std::uint64_t>(last.loss_scale), "the loss scale");
  comm::check_replicas_equal(*job.communicator, job.parameters(), "the parameters");
}

TEST_F(WorldModelPrecision, ANanOfOneRankLeavesTheParametersOfAllAsTheyWere) {
  Training job(config("fp32"));
  for (std::int64_t i = 0; i < kNanStep; ++i) EXPECT_FALSE(job.step().skipped);
  const at::Tensor before = job.parameters();
  const StepResult spoilt = job.step();
  EXPECT_TRUE(spoilt.skipped);
  EXPECT_FALSE(std::isfinite(spoilt.grad_norm));
  EXPECT_TRUE(torch::equal(job.parameters(), before));
  const StepResult next = job.step();
  EXPECT_FALSE(next.skipped);
  EXPECT_FALSE(torch::equal(job.parameters(), before));
  EXPECT_TRUE(job.parameters().isfinite().all().item<bool>());
  EXPECT_EQ(job.trainer.skipped_steps(), 1);
  comm::check_replicas_equal(*job.communicator, job.parameters(), "the parameters");
}

TEST_F(WorldModelPrecision, AccumulatedBatchesMakeTheStepsOfOneBatch) {
  config::Config c = config("fp32");
  c.data.max_vehicles = 7;  // samples of 6 and of 7 vehicles
  c.data.batch_size = 6;
  c.train.clip_norm = 1e6;
  Training joined(c);
  const at::Tensor start = joined.parameters();
  for (const char* overlap : {"off", "on"}) {
    config::Config in_parts = c;
    in_parts.data.batch_size = 2;
    in_parts.train.accumulation_steps = 3;
    in_parts.comm.overlap = overlap;
    in_parts.comm.bucket_cap_mb = 0.01;
    Training accumulated(in_parts);
    Training whole(c);
    for (int i = 0; i < 3; ++i) {
      const StepResult a = accumulated.step();
      const StepResult b = whole.step();
      // The float32 sums have another order.
      EXPECT_NEAR(a.loss, b.loss, 1e-5 * b.loss);
      EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-4 * b.grad_norm);
    }
    // Adam divides a gradient by its size. The rounding errors of the smallest gradients therefore
    // change the parameters.
    const double moved = (whole.parameters() - start).norm().item<double>();
    EXPECT_LT((accumulated.parameters() - whole.parameters()).norm().item<double>(), 0.01 * moved);
  }
}

TEST_F(WorldModelPrecision, DamagedDataEndAnAccumulatedStepWithTheReason) {
  config::Config c = config("fp32");
  c.train.accumulation_steps = 3;
  c.data.num_workers = 1;
  Training job(c);
  std::fstream file(file_, std::ios::in | std::ios::out | std::ios::binary);
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(file_));
  for (std::streamoff at = size / 8; at < size * 7 / 8; at += 1024) {
    file.seekp(at);
    file.write("damaged", 7);
  }
  file.close();
  job.batches.start_epoch(1);
  EXPECT_THROW(job.step(), Error);
}

TEST_F(WorldModelPrecision, LearnsInHalfPrecisionWhatItLearnsInSingle) {
  Training half(config("fp16"));
  Training single(config("fp32"));
  const at::Tensor start = single.parameters();
  for (int i = 0; i < kSteps; ++i) {
    const StepResult a = half.step();
    const StepResult b = single.step();
    EXPECT_FALSE(a.skipped);
    // In half precision operands are rounded to 11 bits.
    EXPECT_NEAR(a.loss, b.loss, 0.01 * b.loss);
    EXPECT_NEAR(a.grad_norm, b.grad_norm, 0.05 * b.grad_norm)
        << "the norm must not contain the loss scale";
  }
  const double moved = (single.parameters() - start).norm().item<double>();
  EXPECT_LT((half.parameters() - single.parameters()).norm().item<double>(), 0.2 * moved);
}

TEST_F(WorldModelPrecision, ResumesWithTheScaleAndTheBitsOfARunThatWasNotStopped) {
  config::Config c = config("fp16");
  c.loss_scale.initial = c.loss_scale.max = 0x1p40;
  c.loss_scale.backoff_factor = 0x1p-8;
  c.loss_scale.growth_interval = 2;
  Training whole(c);
  Training cut(c);
  checkpoint::Snapshot snapshot;
  for (int i = 0; i < 3; ++i) {
    whole.step();
    cut.step();
  }
  cut.trainer.save_to(snapshot);
  Training resumed(c);
  resumed.trainer.restore_from(snapshot);
  resumed.batches.restore(cut.batches.state());
  for (int i = 3; i < kSteps; ++i) {
    const StepResult a = whole.step();
    const StepResult b = resumed.step();
    EXPECT_EQ(a.loss_scale, b.loss_scale) << i;
    EXPECT_EQ(a.skipped, b.skipped) << i;
  }
  EXPECT_TRUE(torch::equal(whole.parameters(), resumed.parameters()));
}

TEST_F(WorldModelPrecision, AScaleThatCannotFallFurtherEndsTheRun) {
  config::Config c = config("fp16");
  c.loss_scale.strategy = "static";
  c.loss_scale.fixed = 0x1p40;
  c.data.batch_size = 1;
  Training job(c);
  EXPECT_THROW(
      {
        for (int i = 0; i < 12; ++i) job.step();
      },
      NumericError);
}

TEST_F(WorldModelPrecision, OverlapChangesNoBit) {
  config::Config c = config("fp32");
  c.comm.bucket_cap_mb = 0.01;
  // Disables clipping, because it uses the norm, whose sum has another order.
  c.train.clip_norm = 1e6;
  Training plain(c);
  c.comm.overlap = "on";
  Training overlapped(c);
  for (int i = 0; i < kSteps; ++i) {  // steps of both stages of phase 1
    plain.step();
    overlapped.step();
  }
  EXPECT_TRUE(torch::equal(plain.parameters(), overlapped.parameters()));
}

/// The parameters after two steps, and the memory in bytes that the fused layers used at once.
struct Trained {
  at::Tensor parameters;
  std::int64_t bytes;
};
Trained train(const config::Config& config) {
  Training job(config);
  model::release_cached_memory();
  job.step();
  const std::int64_t bytes = model::release_cached_memory();  // all of it is idle now
  job.step();
  return {job.parameters(), bytes};
}

TEST_F(WorldModelPrecision, CheckpointedLayersGiveTheSameBitsInLessMemory) {
  for (const char* precision : {"fp32", "bf16"}) {
    config::Config c = config(precision);
    c.data.batch_size = 16;  // activations are large compared with the gradients of weights
    c.model.hidden_dim = 256;
    c.model.num_heads = 8;
    c.model.gnn_layers = 3;
    c.model.lstm_hidden = 256;
    const Trained kept = train(c);
    c.train.gradient_checkpointing = true;
    const Trained computed_again = train(c);
    EXPECT_TRUE(torch::equal(computed_again.parameters, kept.parameters)) << precision;
    // Without products of bfloat16 no layer is fused.
    if (c.train.precision == "bf16" && !model::has_bf16_products()) continue;
    EXPECT_LT(computed_again.bytes, kept.bytes * 6 / 10) << precision;
  }
}

TEST_F(WorldModelPrecision, CheckpointedLayersGiveTheSameBitsInHalfPrecision) {
  config::Config c = config("fp16");
  const Trained kept = train(c);
  c.train.gradient_checkpointing = true;
  EXPECT_TRUE(torch::equal(train(c).parameters, kept.parameters));
}

TEST(CheckPrecision, AsksForAGpuForHalfPrecision) {
  EXPECT_THROW(check_precision("train.precision", "fp16", at::kCPU), ConfigError);
  EXPECT_NO_THROW(check_precision("train.precision", "bf16", at::kCPU));
  EXPECT_NO_THROW(check_precision("train.precision", "fp16", at::Device(at::kCUDA, 0)));
}

}  // namespace
}  // namespace traffic::train
