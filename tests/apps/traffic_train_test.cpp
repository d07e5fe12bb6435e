#include <map>

#include "traffic/checkpoint/file.h"
#include "traffic/data/sampler.h"
#include "train_fixture.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class TrainsOnRanks : public TrainTest, public ::testing::WithParamInterface<int> {};

TEST_P(TrainsOnRanks, PrintsTheTableAndWritesTheWholeSummary) {
  const Outcome outcome = run_program(command(GetParam(), "run"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("RMSE on the test episodes"), HasSubstr("constant velocity"),
                    HasSubstr("conflict (time-to-collision under 2 s")));
  const nlohmann::json s = summary("run");
  EXPECT_EQ(s["status"], "done");
  EXPECT_EQ(s["steps"], 12);
  EXPECT_GT(s["samples_per_s"], 0.0);
  EXPECT_GT(s["startup_s"], 0.0);
  EXPECT_THAT(s["peak_rss_bytes"]["per_rank"], SizeIs(GetParam()));
  for (const char* part : {"data", "forward", "backward", "reduce", "optimizer"}) {
    EXPECT_GT(s["time_share"][part], 0.0) << part;
  }
  EXPECT_TRUE(s["result"].contains("speed_rmse_mps_frame5"));
  const nlohmann::json environment = json("run/environment.json");
  EXPECT_FALSE(environment["build_type"].get<std::string>().empty());
  EXPECT_TRUE(environment["gpus"].is_array());
  const auto words = environment["command_line"].get<std::vector<std::string>>();
  ASSERT_GT(words.size(), 2U);
  EXPECT_TRUE(words.front().ends_with("traffic_train")) << words.front();
  EXPECT_TRUE(words[1].ends_with("configs/phase1.toml")) << words[1];
  EXPECT_THAT(words, Contains("train.max_steps=12"));
  for (const char* file : {"config.toml", "environment.json", "metrics.jsonl", "logs/train.log",
                           "logs/rank-0.log", "checkpoints/phase1.h5", "checkpoints/best.h5"}) {
    EXPECT_TRUE(fs::exists(dir_ / "run" / file)) << file;
  }
  std::ifstream log(dir_ / "run/logs/train.log");
  const std::string said{std::istreambuf_iterator<char>(log), {}};
  EXPECT_THAT(said,
              AllOf(HasSubstr(" parameters are trained: "), HasSubstr("a step learns from "),
                    HasSubstr("main memory: "), HasSubstr(", lr "), HasSubstr(", memory_gib "),
                    HasSubstr("phase 1 is done: step 12 after ")));
  std::ifstream metrics(dir_ / "run/metrics.jsonl");
  std::string first;
  std::getline(metrics, first);
  const auto figures = nlohmann::json::parse(first);
  EXPECT_GT(figures["memory/total_gib"], 0.02);
  EXPECT_LE(figures["train/grad_norm_min"], figures["train/grad_norm_max"]);
  EXPECT_EQ(figures["train/overflow_rate"], 0.0);
  EXPECT_GE(figures["wait/data"], 0.0);
}
INSTANTIATE_TEST_SUITE_P(Ranks, TrainsOnRanks, ::testing::Values(1, 2, 3));

TEST_F(TrainTest, LearnsThatTheseVehiclesKeepTheirAcceleration) {
  const Outcome outcome = run_program(command(
      2, "run", "--set train.max_steps=0 --set train.epochs=8 --set train.warmup_epochs=1"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const nlohmann::json result = summary("run")["result"];
  const double model = result["speed_rmse_mps_frame5"];
  const double constant_velocity = result["constant_velocity_speed_rmse_mps_frame5"];
  // The acceleration is a feature of each vehicle: a model that reads it is far better.
  EXPECT_LT(model, 0.7 * constant_velocity);
}

TEST_F(TrainTest, EndsWith8BeforeAnyStepWhenThereIsNoRoomForTheCheckpoints) {
  // /dev/shm lies in main memory, which is too small for a thousand checkpoints of a moderate
  // model.
  const fs::path run = "/dev/shm/" + dir_.filename().string();
  const auto available = static_cast<double>(fs::space("/dev/shm").available);
  int width = 64;
  // A checkpoint has at least 32 * width^2 parameters of 4 bytes, each with two moments of Adam.
  while (1000.0 * 3 * 4 * 32 * width * width < available) width *= 2;
  const std::string size = std::to_string(width);
  const Outcome outcome =
      run_program(command(2, run.string(),
                          "--set checkpoint.keep_last=1000 --set model.hidden_dim=" + size +
                              " --set model.num_heads=4 --set model.lstm_hidden=" + size));
  const bool stepped = fs::exists(run / "metrics.jsonl");
  fs::remove_all(run);
  EXPECT_EQ(outcome.exit_code, 8) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("not enough disk space"), HasSubstr("checkpoint.keep_last")));
  EXPECT_FALSE(stepped);
}

TEST_F(TrainTest, RepeatsToTheBitAlsoWhenARunIsProfiled) {
  ASSERT_EQ(run_program(command(2, "a")).exit_code, 0);
  ASSERT_EQ(run_program(command(2, "b", "--set profile.steps=3")).exit_code, 0);
  EXPECT_EQ(summary("a")["parameters_xxh3"], summary("b")["parameters_xxh3"]);
  EXPECT_FALSE(fs::exists(dir_ / "a/profile"));
  for (const std::string rank : {"rank-0", "rank-1"}) {
    const nlohmann::json trace = json("b/profile/" + rank + ".json");
    std::map<std::string, int> seen;
    for (const auto& event : trace.at("traceEvents")) ++seen[event.value("name", "")];
    EXPECT_EQ(seen["optimizer"], 3) << rank;
    EXPECT_EQ(seen["forward"], 3) << rank;
    EXPECT_EQ(seen["lstm_backward"], 3) << rank;
    EXPECT_TRUE(fs::exists(dir_ / "b/profile" / (rank + ".txt")));
  }
}

TEST_F(TrainTest, KilledAtAStepAndResumedEndsWithTheBitsOfAnUninterruptedRun) {
  const std::string saving = "--set checkpoint.save_interval_steps=2";
  ASSERT_EQ(run_program(command(2, "whole", saving)).exit_code, 0);
  const Outcome killed =
      run_program(command(2, "cut", saving, "TRAFFIC_FAULT=train.step:1:7:kill"));
  ASSERT_NE(killed.exit_code, 0);
  const Outcome resumed = run_program(command(2, "cut", saving));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

TEST_F(TrainTest, SigUsr1SavesAndStopsWith75AndTheResumedRunIsIdentical) {
  ASSERT_EQ(run_program(command(2, "whole")).exit_code, 0);
  BackgroundProgram program(command(2, "cut", "", "TRAFFIC_FAULT=train.step:0:*:slow:200"));
  ASSERT_TRUE(wait_for_step("cut", 3));
  program.send(SIGUSR1);  // to mpirun, which forwards it to the ranks
  ASSERT_EQ(program.wait(), 75);
  EXPECT_EQ(summary("cut")["status"], "stopped");
  const Outcome resumed = run_program(command(2, "cut"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

TEST_F(TrainTest, StoppedAfterTheLastStepTheResumedRunStillValidates) {
  ASSERT_EQ(run_program(command(2, "whole")).exit_code, 0);
  BackgroundProgram program(command(2, "cut", "", "TRAFFIC_FAULT=train.step:0:11:slow:2000"));
  ASSERT_TRUE(wait_for_step("cut", 11));
  program.send(SIGUSR1);  // in the last step
  ASSERT_EQ(program.wait(), 75);
  EXPECT_EQ(summary("cut")["steps"], 12);
  const Outcome resumed = run_program(command(2, "cut"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  EXPECT_EQ(summary("whole")["result"], summary("cut")["result"]);
}

TEST_F(TrainTest, IgnoresMissingFeaturesAndResumesOnlyWithTheSame) {
  write_train_data(dir_ / "row.h5", {"is_cv", "own_queue"});
  const Outcome outcome = run_program(command(2, "run"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("2 features are missing and will be ignored"));
  const auto trained = checkpoint::load(dir_ / "run" / "checkpoints" / "phase1.h5");
  EXPECT_THAT(trained.text("features"), AllOf(HasSubstr("speed_mps,"), HasSubstr("own_backlog")));
  EXPECT_THAT(trained.text("features"), ::testing::Not(HasSubstr("own_queue")));
  const at::Tensor weight = trained.tensor("model/encoder.input.weight");
  for (const char* name : {"is_cv", "own_queue"}) {
    EXPECT_EQ(weight.select(1, scene::node_feature_index(name)).abs().max().item<float>(), 0.0F);
  }
  EXPECT_GT(weight.select(1, scene::node_feature_index("speed_mps")).abs().max().item<float>(), 0);
  write_train_data(dir_ / "row.h5");
  const Outcome other = run_program(command(2, "run", "--set train.max_steps=24"));
  EXPECT_EQ(other.exit_code, 4);
  EXPECT_THAT(other.output, HasSubstr("was trained on data with the features position_m"));
}

TEST_F(TrainTest, ContinuesWithAnotherNumberOfRanks) {
  const std::string saving = "--set checkpoint.save_interval_steps=2";
  // Step 4 is slowed down, so that its checkpoint is saved before the rank is killed in step 5.
  const std::string killed = "TRAFFIC_FAULT=train.step:0:4:slow:1000,train.step:0:5:kill";
  ASSERT_NE(run_program(command(2, "run", saving, killed)).exit_code, 0);
  const Outcome resumed = run_program(command(1, "run", saving));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output,
              AllOf(HasSubstr("going on from checkpoint"), HasSubstr("step-000000004.h5")));
  EXPECT_EQ(summary("run")["steps"], 12);
  EXPECT_THAT(summary("run")["peak_rss_bytes"]["per_rank"], SizeIs(1));
  // The run continues with the samples that no rank has read, and does not repeat the epoch.
  const auto late = checkpoint::load(dir_ / "run/checkpoints/step-000000010.h5");
  const at::Tensor& numbers = late.tensor("sampler");
  const auto sampler = data::SamplerState::decode(
      {numbers.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(numbers.numel())});
  EXPECT_THAT(sampler.stages,
              ElementsAre(data::SamplerState::Stage{{4, 4}, 4}, data::SamplerState::Stage{{4}, 6}));
}

TEST_F(TrainTest, ContinuesFromTheCheckpointBeforeADamagedOne) {
  const std::string saving = "--set checkpoint.save_interval_steps=2";
  ASSERT_EQ(run_program(command(1, "run", saving)).exit_code, 0);
  for (const char* name : {"step-000000012.h5", "phase1.h5", "best.h5"}) {
    std::fstream file(dir_ / "run/checkpoints" / name,
                      std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(5000);
    file.put('\x55');
  }
  const Outcome resumed = run_program(command(1, "run", saving));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, AllOf(HasSubstr("is skipped"), HasSubstr("step-000000010.h5")));
}

TEST_F(TrainTest, DoesNotStartAnewIfAllCheckpointsAreDamaged) {
  ASSERT_EQ(run_program(command(1, "run")).exit_code, 0);
  for (const auto& entry : fs::directory_iterator(dir_ / "run/checkpoints"))
    fs::resize_file(entry.path(), 6000);
  EXPECT_EQ(run_program(command(1, "run")).exit_code, 4);
}

TEST_F(TrainTest, SkipsAnUpdateWithANanGradientOnAllRanks) {
  const Outcome outcome = run_program(command(2, "run", "", "TRAFFIC_FAULT=train.step:1:4:nan"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(summary("run")["faults"]["skipped_steps"], 1);
  // metrics.jsonl contains the step without an update, and later steps are not affected.
  std::ifstream in(dir_ / "run/metrics.jsonl");
  std::vector<int> without_norm;
  int steps = 0;
  for (std::string line; std::getline(in, line);) {
    const auto figures = nlohmann::json::parse(line);
    if (!figures.contains("train/grad_norm")) continue;
    ++steps;
    EXPECT_TRUE(figures["train/loss"].is_number()) << line;
    if (figures["train/grad_norm"].is_null()) without_norm.push_back(figures["step"]);
  }
  EXPECT_EQ(steps, 12);
  EXPECT_THAT(without_norm, ElementsAre(5));
  for (const char* log : {"logs/rank-0.log", "logs/rank-1.log"}) {
    std::ifstream file(dir_ / "run" / log);
    const std::string text{std::istreambuf_iterator<char>(file), {}};
    EXPECT_THAT(text, HasSubstr("step 4: the gradient is not finite")) << log;
  }
}

TEST_F(TrainTest, AMetricOutOfRangeIsLoggedWithTheKeyThatChangesIt) {
  const Outcome outcome = run_program(command(2, "run", "--set memory.target_memory_gb=0.05",
                                              "TRAFFIC_FAULT=train.step:1:*:slow:400"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              AllOf(HasSubstr("warning: a rank waits for others"), HasSubstr("data.shard_weights"),
                    HasSubstr("the estimate exceeds the limit: "),
                    HasSubstr("memory.target_memory_gb is 0.1 GiB; ")));
}

TEST_F(TrainTest, SeveralKeysHaveTheirDocumentedEffect) {
  const Outcome outcome = run_program(
      command(2, "run",
              "--set train.max_steps=0 --set train.epochs=4 --set train.eval_interval_epochs=3 "
              "--set checkpoint.save_interval_epochs=1 --set checkpoint.keep_last=20 "
              "--set data.max_samples=60 --set train.lr_scaling=linear"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  std::ifstream in(dir_ / "run/metrics.jsonl");
  int validations = 0;
  double highest_rate = 0.0;
  for (std::string line; std::getline(in, line);) {
    const auto figures = nlohmann::json::parse(line);
    validations += figures.contains("validation/loss") ? 1 : 0;
    highest_rate = std::max(highest_rate, figures.value("train/learning_rate", 0.0));
  }
  EXPECT_EQ(validations, 2);  // after the third epoch, and at the end
  EXPECT_GT(highest_rate, 0.0015);
  std::ifstream log(dir_ / "run/logs/train.log");
  const std::string said{std::istreambuf_iterator<char>(log), {}};
  const auto samples = said.find("samples: ");
  ASSERT_NE(samples, std::string::npos);
  EXPECT_LE(std::stoi(said.substr(samples + 9)), 60);
  // Every epoch is saved, also without a validation.
  int saved = 0;
  for (const auto& entry : fs::directory_iterator(dir_ / "run/checkpoints")) {
    saved += entry.path().filename().string().starts_with("step-") ? 1 : 0;
  }
  EXPECT_EQ(saved, 4);
}

TEST_F(TrainTest, EndsWith5WhenEveryGradientIsNan) {
  const Outcome outcome = run_program(command(2, "run", "", "TRAFFIC_FAULT=train.step:1:*:nan"));
  EXPECT_EQ(outcome.exit_code, 5);
  EXPECT_THAT(outcome.output, HasSubstr("updates in a row"));
}

TEST_F(TrainTest, EndsWith7AndNamesTheRankThatHangs) {
  const Outcome outcome =
      run_program(command(2, "run", "--set comm.timeout_s=10 --set comm.init_timeout_s=10",
                          "TRAFFIC_FAULT=train.step:1:3:hang"),
                  60);
  EXPECT_EQ(outcome.exit_code, 7) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("rank 1"));
}

TEST_F(TrainTest, RefusesASecondRunInTheSameFolder) {
  BackgroundProgram first(command(1, "run", "", "TRAFFIC_FAULT=train.step:0:*:slow:300"));
  ASSERT_TRUE(wait_for_step("run", 1));
  const Outcome second = run_program(command(1, "run"));
  EXPECT_EQ(second.exit_code, 8) << second.output;
  EXPECT_EQ(first.wait(), 0);
}

TEST_F(TrainTest, DryRunChecksAndTrainsNothing) {
  const Outcome outcome = run_program(command(2, "run", "--dry-run"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("dry run"));
  EXPECT_FALSE(fs::exists(dir_ / "run/summary.json"));
}

}  // namespace
}  // namespace traffic::test
