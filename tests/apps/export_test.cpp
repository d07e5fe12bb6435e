/// Trained policies outside of this program: exported by traffic_export, and run by the Python
/// files in launch/python with ONNX Runtime and, where it is installed, with torch.
#include <array>
#include <utility>

#include "support/run_folder_test.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/trainings.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"
#include "traffic/train/export/policy_export.h"
#include "train/run/snapshot_parts.h"

namespace traffic::test {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr const char* kPython =
    "env SUMO_HOME=" TRAFFIC_SUMO_ROOT " PYTHONPATH=" TRAFFIC_SOURCE_DIR
    "/launch/python:" TRAFFIC_SOURCE_DIR "/.deps/onnx:" TRAFFIC_SOURCE_DIR
    "/.deps/tools:" TRAFFIC_SOURCE_DIR "/.deps/torch python3 ";

class Export : public RunFolderTest {
 protected:
  /// A short training with learning rates that change the policies.
  void train(const std::string& config, const std::string& run, const std::string& arguments) {
    const Outcome trained = run_program(command_of(
        {.config = config,
         .run = run,
         .arguments =
             "--set env.max_time_s=120 --set rollout.workers=1 --set rollout.envs_per_worker=1 "
             "--set training.iterations=2 --set training.eval_interval=2 "
             "--set training.eval_episodes=2 --set training.final_episodes=0 "
             "--set episodes.train_batch_size=96 --set episodes.baseline_episodes=2 "
             "--set ppo.minibatch_size=48 --set evaluation.seeds= --set ppo.target_kl=0 "
             "--set ppo.desired_kl=0 --set ppo.learning_rate=0.05 --set lights.ppo.target_kl=0 "
             "--set lights.ppo.learning_rate=0.1 --set episodes.baseline_cache=" +
             (dir_ / "cache").string() + " " + arguments}));
    ASSERT_EQ(trained.exit_code, 0) << trained.output;
  }
  [[nodiscard]] Outcome export_policies(const std::string& checkpoint,
                                        const std::string& arguments = "") const {
    return run_program(TRAFFIC_BIN_DIR "/traffic_export --checkpoint " + checkpoint + " --out " +
                       out() + " " + arguments);
  }
  [[nodiscard]] std::string out() const { return (dir_ / "exported").string(); }
  /// Exports a run, records states and repeats their decisions in Python.
  /// @param states the number of states that are recorded
  void expect_equal_decisions(const std::string& run, const std::string& arguments, int states) {
    const Outcome exported = export_policies(best(run), arguments);
    ASSERT_EQ(exported.exit_code, 0) << exported.output;
    std::vector<std::string> backends{"onnx"};
    if (run_program(std::string(kPython) + "-c 'import torch'").exit_code == 0) {
      backends.emplace_back("torch");
    }
    for (const std::string& backend : backends) {
      const Outcome checked = run_program(std::string(kPython) + "-m traffic_policy " + out() +
                                          " --backend " + backend);
      EXPECT_EQ(checked.exit_code, 0) << backend << "\n" << checked.output;
      EXPECT_THAT(checked.output,
                  HasSubstr(std::to_string(states) + " states, 0 with another decision"))
          << backend;
    }
  }
};

TEST_F(Export, VehiclesAndLightsOfAJointTrainingDecideTheSame) {
  train("joint.toml", "run", "");
  expect_equal_decisions("run", "--scenario arterial --states 10", 20);
  const nlohmann::json table = json("exported/policy.json");
  EXPECT_EQ(table["vehicles"]["advisor"], "glide(top=200)");
  EXPECT_EQ(table["vehicles"]["commands"][1]["longitudinal"], "arrive_green");
  EXPECT_EQ(table["vehicles"]["inputs"][0]["columns"][1]["name"], "speed_mps");
  EXPECT_EQ(table["vehicles"]["inputs"][0]["columns"][1]["unit"], "m/s");
  EXPECT_EQ(table["vehicles"]["inputs"][0]["columns"][1]["scale"], 30);
  EXPECT_EQ(table["lights"]["keeps_programs"], false);
  EXPECT_EQ(table["lights"]["inputs"][0]["columns"].size(), 26);
}

/// The policy reads encodings of the graph of all vehicles, commands target speeds, and changes
/// lanes.
TEST_F(Export, VehiclesThatReadEncodingsDecideTheSame) {
  train("phase2.toml", "run",
        "--set env.scenario=merge --set vehicles.longitudinal=target_speed --set "
        "vehicles.advisor= --set vehicles.lane_change=true --set run.allow_random_perception=true "
        "--set 'vehicles.inputs=[\"features\",\"globals\",\"encoding\",\"pooled\",\"latents\"]'");
  expect_equal_decisions("run", "--scenario merge --states 12", 12);
}

TEST_F(Export, TheExampleDrivesSumoAsThisProgramDoes) {
  train("signals.toml", "run",
        "--set env.scenario=lights_arterial --set env.scenarios=[] --set lights.encoder_layers=0 "
        "--set lights.advisor=program");
  expect_equal_decisions(
      "run", "--scenario lights_arterial --set env.max_time_s=600 --states 24 --record-seed 7", 24);
  const Outcome compared = run_program(
      std::string(kPython) + TRAFFIC_SOURCE_DIR "/tests/apps/compare_example.py " + out() +
      " " TRAFFIC_SOURCE_DIR "/configs/scenarios/lights_arterial/lights_arterial.sumocfg 7");
  EXPECT_EQ(compared.exit_code, 0) << compared.output;
}

TEST_F(Export, PythonNamesTheFeaturesThatAStateLacks) {
  train("signals.toml", "run",
        "--set env.scenario=lights_arterial --set env.scenarios=[] --set lights.encoder_layers=0 "
        "--set lights.advisor=program");
  ASSERT_EQ(export_policies(best("run")).exit_code, 0);
  const auto decide = [&](const std::string& options) {
    return run_program(
        std::string(kPython) +
        "-c 'import traffic_policy as t\n"
        "p = t.TrafficPolicy(\"" +
        out() +
        "\", \"onnx\")\n"
        "row = {c[\"name\"]: 0.0 for c in p.table[\"lights\"][\"inputs\"][0][\"columns\"]}\n"
        "print(p.decide_lights({\"lights\": [{\"id\": \"A\", \"may_switch\": True, "
        "\"options\": " +
        options + "}]}))'");
  };
  EXPECT_THAT(decide("[row, row]").output, HasSubstr("{'A': 0}"));
  EXPECT_THAT(
      decide("[{**row, \"is_present\": 1}, {**row, \"queue\": 9, \"is_present\": 0}]").output,
      HasSubstr("{'A': "));
  EXPECT_THAT(decide("[{\"queue\": 1}]").output,
              AllOf(HasSubstr("light A: missing features ['vehicles'"), HasSubstr("unknown")));
  EXPECT_THAT(decide("[{**row, \"queue\": float(\"nan\")}]").output,
              HasSubstr("queue is nan, expected a finite number"));
  EXPECT_THAT(decide("[{**row, \"room_behind\": 30}]").output,
              HasSubstr("room_behind is 30 1, expected 0.0 to 1"));
  EXPECT_THAT(run_program(std::string(kPython) + "-m traffic_policy " + out()).output,
              HasSubstr("states.jsonl does not exist; record it with traffic_export --scenario"));
  EXPECT_THAT(run_program(std::string(kPython) + "-m traffic_policy " + dir_.string()).output,
              HasSubstr("expected a folder of traffic_export"));
}

TEST_F(Export, NetworksOfAnotherCheckpointAreFoundOut) {
  const std::string small =
      "--set env.scenario=lights_arterial --set env.scenarios=[] --set lights.encoder_layers=0 "
      "--set lights.advisor=program ";
  train("signals.toml", "first", small);
  train("signals.toml", "second", small + "--set run.seed=9 ");
  train::export_policies(best("first"), out());
  config::Config config;
  config.env.scenario = "lights_arterial";
  EXPECT_THROW(train::record_states({.config = config,
                                     .checkpoint = best("second"),
                                     .folder = out(),
                                     .seed = 1,
                                     .states = 2}),
               NumericError);
}

TEST_F(Export, CheckpointsWithoutAPolicyAreRefused) {
  const std::string file = (dir_ / "other.h5").string();
  for (const auto& [training, expected] :
       {std::pair{"world_model", "it belongs to the training world_model"},
        std::pair{"driving", "it belongs to the training driving"}}) {
    checkpoint::Snapshot snapshot(1);
    snapshot.put_text("config", config::to_toml(config::Config{}));
    train::put_training(snapshot, config::get_training(training));
    checkpoint::save(snapshot, file);
    const Outcome refused = export_policies(file);
    EXPECT_EQ(refused.exit_code, 4) << refused.output;
    EXPECT_THAT(refused.output, HasSubstr(expected));
  }
  std::ofstream(file) << "no checkpoint";
  EXPECT_EQ(export_policies(file).exit_code, 4);
  EXPECT_EQ(export_policies((dir_ / "missing.h5").string()).exit_code, 4);
  EXPECT_EQ(run_program(TRAFFIC_BIN_DIR "/traffic_export --checkpoint " + file).exit_code, 2);
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace traffic::test
