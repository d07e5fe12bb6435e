/// Tests of the driving policies. They run on 1 and 2 ranks, and cover batches of scenes, gradients
/// summed over the ranks, and a checkpoint that drives in a simulation.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "driving/crossing.h"
#include "mpi_main.h"
#include "traffic/checkpoint/file.h"
#include "traffic/comm/gradient_reducer.h"
#include "traffic/config/trainings.h"
#include "traffic/config/write.h"
#include "traffic/data/block_cache.h"
#include "traffic/driving/observation.h"
#include "traffic/train/trainings.h"
#include "train/driving/open_loop.h"
#include "train/driving/policy.h"
#include "train/driving/policy_driver.h"
#include "train/driving/scene_batches.h"
#include "train/optim/adam.h"
#include "train/run/snapshot_parts.h"

namespace traffic::train::driving_policy {
namespace {

namespace fs = std::filesystem;

/// Writes a file with three episodes of the crossing.
/// @param source what SceneFileInfo::source says
std::string write_scenes(const std::string& name, const std::string& source) {
  const fs::path folder =
      fs::temp_directory_path() / ("driving_policy_" + std::to_string(::getpid()));
  fs::create_directories(folder);
  const std::string file = (folder / name).string();
  data::SceneFileInfo info;
  info.scenario = "crossing";
  info.source = source;
  data::SceneWriter writer(file, info);
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    writer.add(driving::testing::crossing_scene(seed), {});
  }
  writer.finish();
  return file;
}

/// A file that each rank writes once.
std::string scene_file() {
  static const std::string path = write_scenes("crossing.h5", "");
  return path;
}

Driving small(const std::string& head) {
  return {.head = head, .width = 12, .hidden_dim = 32, .modes = 8};
}

std::vector<DrivingBatch> batches(const Driving& settings, std::int64_t size, std::int64_t rank,
                                  std::int64_t ranks, bool changed = true) {
  const auto scenes =
      std::make_shared<SceneSet>(std::vector{scene_file()}, data::Split::kTrain, true);
  config::Data data;
  data.batch_size = size;
  data.num_workers = 1;
  DrivingLoader loader(scene_batches(scenes, settings, {.enabled = changed, .seed = 5}),
                       {.data = data, .seed = 7, .rank = rank, .world_size = ranks});
  loader.start_epoch(0);
  std::vector<DrivingBatch> all;
  for (int i = 0; i < 4; ++i) all.push_back(loader.next().value());
  return all;
}

DrivingBatch joined(const std::vector<DrivingBatch>& parts) {
  const auto all = [&](torch::Tensor DrivingBatch::*field) {
    std::vector<torch::Tensor> tensors;
    for (const DrivingBatch& part : parts) tensors.push_back(part.*field);
    return torch::cat(tensors);
  };
  return {all(&DrivingBatch::image),      all(&DrivingBatch::status), all(&DrivingBatch::speed_mps),
          all(&DrivingBatch::plan),       all(&DrivingBatch::weight), all(&DrivingBatch::noise),
          all(&DrivingBatch::noise_level)};
}

std::unique_ptr<Policy> make_policy(const Driving& settings) {
  auto policy = std::make_unique<Policy>(settings, 3, torch::kCPU);
  const DrivingBatch batch = joined(batches(settings, 32, 0, 1, false));
  policy->set_statistics(batch.plan, batch.speed_mps, 9);
  return policy;
}

class DrivingPolicy : public ::testing::TestWithParam<const char*> {};

TEST_P(DrivingPolicy, GradientsOfAllRanksAreThoseOfOneRankOnTheJoinedBatch) {
  const Driving settings = small(GetParam());
  const std::unique_ptr<Policy> policy = make_policy(settings);
  auto& communicator = traffic::testing::mpi_session();
  const std::int64_t ranks = communicator.size();
  std::vector<DrivingBatch> of_ranks;
  for (std::int64_t r = 0; r < ranks; ++r) {
    of_ranks.push_back(batches(settings, 8, r, ranks).front());
  }
  const DrivingBatch whole = joined(of_ranks);
  policy->loss(whole).backward();
  std::vector<torch::Tensor> wanted;
  for (const auto& parameter : policy->network()->parameters()) {
    wanted.push_back(parameter.grad().clone());
  }
  const auto comm = comm::make_communicator(communicator, torch::kCPU, {});
  comm::GradientArena gradients(policy->parameters(), *comm);
  comm::GradientReducer reducer(*comm, gradients, {});
  gradients.zero();
  const DrivingBatch& mine = of_ranks[static_cast<std::size_t>(communicator.rank())];
  const double factor = reducer.before_backward(mine.weight.sum().item<double>());
  (policy->loss(mine) * factor).backward();
  ASSERT_TRUE(reducer.after_backward()->finite);
  double error = 0.0, size = 0.0;
  const auto parameters = policy->network()->parameters();
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    error += (parameters[i].grad() - wanted[i]).square().sum().item<double>();
    size += wanted[i].square().sum().item<double>();
  }
  EXPECT_LT(std::sqrt(error / size), 1e-6) << "only the order of float32 sums may differ";
}

TEST_P(DrivingPolicy, AFewStepsOnOneBatchLowerItsLoss) {
  const Driving settings = small(GetParam());
  const std::unique_ptr<Policy> policy = make_policy(settings);
  const DrivingBatch batch = joined(batches(settings, 16, 0, 1));
  const auto comm = comm::make_communicator(traffic::testing::mpi_session(), torch::kCPU, {});
  comm::GradientArena gradients(policy->parameters(), *comm);
  Adam adam(policy->parameters().flat(), {});
  torch::Tensor first, last;
  for (int step = 0; step < 60; ++step) {
    gradients.zero();
    last = policy->loss(batch);
    if (step == 0) first = last.detach().clone();
    last.backward();
    adam.step(gradients.flat(), 0.01, 1.0);
  }
  EXPECT_LT(last.item<double>(), 0.8 * first.item<double>());
}

TEST_P(DrivingPolicy, ACheckpointDrivesAsThePolicyThatItHolds) {
  const Driving settings = small(GetParam());
  const std::unique_ptr<Policy> policy = make_policy(settings);
  config::Config config;
  config.extension<Driving>() = settings;
  config.run.phase = "driving";
  checkpoint::Snapshot snapshot(1);
  policy->save_to(snapshot);
  put_parameters(snapshot, policy->parameters().parameters());
  for (const config::TrainingFacts& facts : config::trainings()) {
    if (facts.name == "driving") put_training(snapshot, facts);
  }
  snapshot.put_text("config", config::to_toml(config));
  const fs::path path = fs::path(scene_file()).replace_filename(std::string(GetParam()) + ".h5");
  checkpoint::save(snapshot, path);

  const driving::SceneTracks tracks(driving::testing::crossing_scene(9));
  driving::Example example;
  driving::make_example(tracks, tracks.places()[40], {}, example);
  const std::vector<driving::View> views{example.view, example.view};
  const std::vector<driving::Plan> plans = load_driver(path.string())->plan(views);
  ASSERT_EQ(plans.size(), 2U);
  const auto scenes =
      std::make_shared<SceneSet>(std::vector{scene_file()}, data::Split::kTrain, true);
  driving::Observer observer(driving::kSmallRaster);
  DrivingBatch batch;
  batch.image = torch::empty({1, 8, 64, 96}, torch::kByte);
  batch.status = torch::empty({1, static_cast<std::int64_t>(driving::kStatusSize)});
  batch.speed_mps = torch::full({1}, example.view.ego[0].speed_mps);
  observer.observe(tracks.map(), example.view, {},
                   {batch.image.data_ptr<std::uint8_t>(), driving::kSmallRaster.num_bytes()},
                   {batch.status.data_ptr<float>(), driving::kStatusSize});
  const torch::Tensor wanted = policy->plans(batch, 1).plans.flatten();
  for (std::size_t i = 0; i < driving::kPlanPoints; ++i) {
    const auto at = static_cast<std::int64_t>(2 * i);
    EXPECT_NEAR(plans[1].points[i].x_m, wanted[at].item<float>(), 1e-4F);
    EXPECT_NEAR(plans[1].points[i].y_m, wanted[at + 1].item<float>(), 1e-4F);
  }
  Driving other = settings;
  other.raster = "full";
  Policy of_full(other, 3, torch::kCPU);
  EXPECT_THROW(of_full.restore_statistics(snapshot), CheckpointError);
}

INSTANTIATE_TEST_SUITE_P(Heads, DrivingPolicy,
                         ::testing::Values("regression", "diffusion", "vocabulary"));

TEST(DrivingBatches, DependOnTheSampleAndNotOnTheNumberOfRanks) {
  const Driving settings = small("diffusion");
  const std::vector<DrivingBatch> once = batches(settings, 8, 0, 1);
  const std::vector<DrivingBatch> again = batches(settings, 8, 0, 1);
  for (std::size_t i = 0; i < once.size(); ++i) {
    EXPECT_TRUE(torch::equal(once[i].image, again[i].image));
    EXPECT_TRUE(torch::equal(once[i].status, again[i].status));
    EXPECT_TRUE(torch::equal(once[i].noise, again[i].noise));
    EXPECT_TRUE(torch::equal(once[i].plan, again[i].plan));
  }
  EXPECT_FALSE(torch::equal(once[0].image, once[1].image));
}

TEST(OpenLoop, TheRecordedWayHasNoErrorAndStaysOnTheRoad) {
  const std::unique_ptr<Policy> policy = make_policy(small("diffusion"));
  const SceneSet scenes({scene_file()}, data::Split::kTrain, true);
  const auto comm = comm::make_communicator(traffic::testing::mpi_session(), torch::kCPU, {});
  const OpenLoop found = compare_plans(*policy, scenes, 200, *comm);
  ASSERT_EQ(found.rows.size(), 4U);
  EXPECT_EQ(found.samples, 200);
  const OpenLoopRow& recorded = found.rows[3];
  EXPECT_EQ(recorded.l2_3s_m, 0.0);
  EXPECT_EQ(recorded.miss_percent, 0.0);
  EXPECT_LT(recorded.off_road_percent, 1.0);
  const OpenLoopRow& velocity = found.rows[1];
  EXPECT_GT(velocity.l2_3s_m, velocity.l2_1s_m)
      << "the error of constant velocity must grow, because vehicles turn";
}

TEST(SceneSet, OnlyCorrectionsAreRepeated) {
  const SceneSet once({scene_file()}, data::Split::kTrain, true);
  const SceneSet again({scene_file()}, data::Split::kTrain, true, 5);
  EXPECT_EQ(again.num_samples(), once.num_samples()) << "recorded samples are not corrections";
  EXPECT_EQ(again.num_corrections(), 0);
  const std::string file = write_scenes("corrections.h5", std::string(kCorrections));
  const SceneSet corrections({file}, data::Split::kTrain, true);
  const SceneSet repeated({file}, data::Split::kTrain, true, 5);
  EXPECT_GT(corrections.num_corrections(), 0);
  EXPECT_EQ(repeated.num_samples(), 5 * corrections.num_samples());
  EXPECT_EQ(repeated.num_corrections(), repeated.num_samples());
  const auto source = scene_batches(std::make_shared<SceneSet>(repeated), small("regression"), {});
  data::BlockCache blocks(*source, 1 << 20);
  const std::int64_t count = corrections.num_samples();
  const std::vector<data::Draw> draws{{.sample = 1, .weight = 1.0F},
                                      {.sample = count + 1, .weight = 1.0F}};
  const DrivingBatch batch = source->build(draws, 0, blocks);
  EXPECT_TRUE(torch::equal(batch.plan[0], batch.plan[1]))
      << "both samples must be the same correction";
}

TEST(SceneSet, AFileWithoutASplitSaysHowToGetSamples) {
  const SceneSet none({scene_file()}, data::Split::kTest, false);
  EXPECT_EQ(none.num_samples(), 0);
  EXPECT_NE(none.advice_when_empty().find("data_prep record --scenes"), std::string::npos);
}

}  // namespace
}  // namespace traffic::train::driving_policy
