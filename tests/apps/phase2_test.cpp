/// Runs phase 2 of traffic_train as users do, on short episodes of the shipped scenario `merge`.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "support/run_folder_test.h"
#include "traffic/checkpoint/file.h"

namespace traffic::test {
namespace {

using ::testing::HasSubstr;

constexpr int kStepTimeout_s = 60;

/// Writes a checkpoint of an older version, whose configuration had two more keys and one more
/// table.
void write_as_older_version(const fs::path& from, const fs::path& to) {
  const checkpoint::Snapshot now = checkpoint::load(from);
  checkpoint::Snapshot old(now.step());
  for (const auto& [name, value] : now.values()) {
    if (name == "config") {
      std::string text = now.text(name);
      text.insert(text.find("[model]\n") + 8, "old_width = 3\n");
      old.put_text(name, text + "old_key = 1\n\n[old_table]\nkey = true\n");
    } else if (name == "model_hash" || name == "policy_hash") {
      old.put_text(name, "0123456789abcdef");
    } else if (const auto* tensor = std::get_if<at::Tensor>(&value)) {
      old.put_tensor(name, *tensor);
    } else if (const auto* integer = std::get_if<std::int64_t>(&value)) {
      old.put_int(name, *integer);
    } else if (const auto* real = std::get_if<double>(&value)) {
      old.put_real(name, *real);
    } else if (const auto* words = std::get_if<std::string>(&value)) {
      old.put_text(name, *words);
    } else {
      old.put_bytes(name, std::get<checkpoint::Bytes>(value));
    }
  }
  checkpoint::save(old, to);
}

int count(const std::string& text, const std::string& part) {
  int found = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

class Phase2Test : public RunFolderTest {
 protected:
  /// The command of a training with a tiny model and episodes of a minute. Later arguments override
  /// earlier ones.
  [[nodiscard]] std::string command(int ranks, const std::string& run,
                                    const std::string& arguments = "",
                                    const std::string& environment = "") const {
    return "env " + environment + " " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np " +
           std::to_string(ranks) + " " +
           TRAFFIC_BIN_DIR "/traffic_train " TRAFFIC_SOURCE_DIR "/configs/phase2.toml --run-dir " +
           (dir_ / run).string() +
           " --set env.max_time_s=60 --set rollout.workers=1 --set rollout.envs_per_worker=3 "
           "--set model.hidden_dim=32 --set model.gnn_layers=1 --set model.num_heads=2 "
           "--set model.lstm_hidden=32 --set model.latent_dim=8 "
           "--set run.allow_random_perception=true --set vehicles.hidden_dim=16 "
           "--set training.iterations=3 --set episodes.train_batch_size=100 --set "
           "ppo.minibatch_size=50 "
           "--set ppo.num_epochs=2 --set training.eval_interval=2 --set training.eval_episodes=2 "
           "--set episodes.baseline_episodes=4 --set evaluation.seeds= --set "
           "episodes.baseline_cache=" +
           (dir_ / "cache").string() + " --set comm.timeout_s=60 " + arguments;
  }
  [[nodiscard]] std::string text(const fs::path& path) const {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
  }
};

TEST_F(Phase2Test, TwoRunsOfTheSameSeedEndWithTheSameBitsAfterThreeIterations) {
  const Outcome outcome = run_program(command(2, "a"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  // Profiling the last iteration changes no result.
  ASSERT_EQ(run_program(command(2, "b", "--set profile.steps=1")).exit_code, 0);
  EXPECT_EQ(summary("a")["parameters_xxh3"], summary("b")["parameters_xxh3"]);
  for (const char* rank : {"rank-0.txt", "rank-1.txt"}) {
    const std::string operations = text(dir_ / "b" / "profile" / rank);
    for (const char* name : {"simulate ", "infer ", "learn ", "lstm_forward "}) {
      EXPECT_THAT(operations, HasSubstr(name)) << rank;
    }
  }
  EXPECT_EQ(summary("a")["status"], "done");
  EXPECT_EQ(summary("a")["phase"], 2);
  EXPECT_GT(summary("a")["env_steps_per_s"], 0.0);
  EXPECT_EQ(text(dir_ / "a" / "episodes.csv"), text(dir_ / "b" / "episodes.csv"));
  const std::string metrics = text(dir_ / "a" / "metrics.jsonl");
  for (const char* name : {"rollout/ep_rew_mean", "rollout/ep_len_mean", "train/approx_kl",
                           "train/clip_fraction", "train/explained_variance", "train/value_loss",
                           "train/entropy_loss", "train/policy_gradient_loss", "eval/gain",
                           "memory/simulations_gib", "wait/simulations", "wait/ranks"}) {
    EXPECT_THAT(metrics, HasSubstr(name));
  }
  for (const char* file : {"checkpoints/best.h5", "checkpoints/phase2.h5", "episodes.csv"}) {
    EXPECT_TRUE(fs::exists(dir_ / "a" / file)) << file;
  }
}

TEST_F(Phase2Test, ExportsItsWeightsForOtherPrograms) {
  ASSERT_EQ(run_program(command(2, "run",
                                "--set training.iterations=1 --set run.name=trial "
                                "--set evaluation.seeds=1..2"))
                .exit_code,
            0);
  const fs::path weights = dir_ / "run" / "weights";
  const Outcome read =
      run_program("env PYTHONPATH=" TRAFFIC_SOURCE_DIR "/.deps/tools python3 " TRAFFIC_SOURCE_DIR
                  "/tests/apps/read_safetensors.py " +
                  (weights / "model.safetensors").string());
  ASSERT_EQ(read.exit_code, 0) << read.output;
  const auto checkpoint = checkpoint::load(dir_ / "run" / "checkpoints" / "phase2.h5");
  std::istringstream lines(read.output);
  std::size_t tensors = 0;
  std::int64_t size = 0;
  double sum = 0;
  for (std::string name; lines >> name >> size >> sum; ++tensors) {
    const at::Tensor expected = checkpoint.tensor("model/" + name).to(at::kDouble);
    EXPECT_EQ(size, expected.numel()) << name;
    EXPECT_NEAR(sum, expected.sum().item<double>(), 1e-9 * static_cast<double>(size)) << name;
  }
  EXPECT_EQ(tensors, checkpoint.names("model/").size());
  const std::string card = text(weights / "README.md");
  for (const char* part : {"Controller of the run 'trial', phase 2", "`model.safetensors`",
                           "| trained on simulated traffic | merge |", "| gain |", "| ocr_all |",
                           "| these weights |", "| meter |", "| position_m |", "[ppo]"}) {
    EXPECT_THAT(card, HasSubstr(part));
  }
  EXPECT_THAT(card, ::testing::Not(HasSubstr("license")));
}

TEST_F(Phase2Test, StoppedAndResumedEndsWithTheBitsOfAnUninterruptedRun) {
  ASSERT_EQ(run_program(command(2, "whole", "--set training.iterations=4")).exit_code, 0);
  BackgroundProgram program(
      command(2, "cut", "--set training.iterations=4", "TRAFFIC_FAULT=train.step:0:*:slow:200"));
  ASSERT_TRUE(wait_for_step("cut", 1, kStepTimeout_s));
  program.send(SIGUSR1);  // to mpirun, which forwards it to the ranks
  ASSERT_EQ(program.wait(), 75);
  EXPECT_EQ(summary("cut")["status"], "stopped");
  const Outcome resumed = run_program(command(2, "cut", "--set training.iterations=4"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  EXPECT_EQ(text(dir_ / "whole" / "episodes.csv"), text(dir_ / "cut" / "episodes.csv"));
}

TEST_F(Phase2Test, StoppedDuringWarmUpTheLearningRateContinuesToTheBit) {
  const std::string schedule =
      "--set training.iterations=6 --set ppo.warmup_iterations=3 --set ppo.lr_schedule=cosine "
      "--set ppo.learning_rate=1e-3 --set ppo.final_learning_rate=1e-7 --set ppo.weight_decay=1e-4 "
      "--set checkpoint.save_interval_s=0.001";
  ASSERT_EQ(run_program(command(2, "whole", schedule)).exit_code, 0);
  ASSERT_NE(
      run_program(command(2, "cut", schedule, "TRAFFIC_FAULT=phase2.collect:0:2:kill")).exit_code,
      0);
  ASSERT_EQ(run_program(command(2, "cut", schedule)).exit_code, 0);
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  for (const char* run : {"whole", "cut"}) {
    std::vector<double> rates;
    std::ifstream in(dir_ / run / "metrics.jsonl");
    for (std::string line; std::getline(in, line);) {
      const auto figures = nlohmann::json::parse(line);
      if (figures.contains("train/learning_rate")) rates.push_back(figures["train/learning_rate"]);
    }
    ASSERT_EQ(rates.size(), 6U) << run;
    EXPECT_NEAR(rates[0], 1e-3 / 3, 1e-12);
    EXPECT_NEAR(rates[2], 1e-3, 1e-12);
    EXPECT_NEAR(rates[3], 1e-3, 1e-12);
    EXPECT_LT(rates[4], rates[3]);
    EXPECT_LT(rates[5], rates[4]);
  }
  ASSERT_EQ(run_program(command(2, "without", schedule + " --set ppo.weight_decay=0")).exit_code,
            0);
  EXPECT_NE(summary("whole")["parameters_xxh3"], summary("without")["parameters_xxh3"]);
}

TEST_F(Phase2Test, ADemandCurriculumTrainsOnItsDemandsInTurn) {
  const Outcome outcome = run_program(command(
      2, "run",
      "--set 'episodes.demand_curriculum=[0.3,1.5]' --set episodes.rollout_fragment_length=0 "
      "--set env.max_time_s=120 --set training.iterations=4 --set training.eval_interval=2"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  std::vector<double> scales;
  std::ifstream in(dir_ / "run/metrics.jsonl");
  for (std::string line; std::getline(in, line);) {
    const auto figures = nlohmann::json::parse(line);
    if (!figures.contains("rollout/demand_scale")) continue;
    scales.push_back(figures["rollout/demand_scale"]);
    EXPECT_FALSE(figures.contains("rollout/gain_of_means"))
        << "the two demands have different baselines, so there is no common gain";
  }
  EXPECT_EQ(scales, (std::vector<double>{0.3, 0.3, 1.5, 1.5}));
  // Sum of arrived vehicles and number of episodes, by the kind of episode and the half of the
  // training.
  std::map<std::string, std::pair<double, int>> arrived;
  std::ifstream episodes(dir_ / "run/episodes.csv");
  std::string line;
  std::getline(episodes, line);
  const auto column = [&](const std::string& name) {
    return std::count(line.begin(), line.begin() + static_cast<std::ptrdiff_t>(line.find(name)),
                      ',');
  };
  const auto kind_at = static_cast<std::size_t>(column("kind"));
  const auto arrived_at = static_cast<std::size_t>(column("arrived"));
  while (std::getline(episodes, line)) {
    std::vector<std::string> cells;
    std::istringstream row(line);
    for (std::string cell; std::getline(row, cell, ',');) cells.push_back(cell);
    const std::string half = cells.at(kind_at) != "train" ? ""
                             : std::stoi(cells[0]) <= 2   ? " 1"
                                                          : " 2";
    auto& [sum, count] = arrived[cells.at(kind_at) + half];
    sum += std::stod(cells.at(arrived_at));
    ++count;
  }
  const auto mean = [&](const std::string& kind) {
    return arrived.at(kind).first / arrived.at(kind).second;
  };
  EXPECT_LT(mean("train 1"), 0.6 * mean("none"));
  EXPECT_GT(mean("train 2"), 1.1 * mean("none"))
      << "at 1.5 times the demand more vehicles must arrive; only 10 % more are required, because "
         "an episode lasts just two minutes";
  EXPECT_NEAR(mean("eval"), mean("none"), 0.2 * mean("none"))
      << "evaluations must use the demand of the scenario";
}

TEST_F(Phase2Test, AStopWithinAnIterationSavesTheIterationsBeforeIt) {
  ASSERT_EQ(run_program(command(2, "whole")).exit_code, 0);
  BackgroundProgram program(command(2, "cut", "", "TRAFFIC_FAULT=phase2.collect:0:1:slow:2000"));
  ASSERT_TRUE(wait_for_step("cut", 1, kStepTimeout_s));
  program.send(SIGUSR1);  // before the simulations of the second iteration
  ASSERT_EQ(program.wait(), 75);
  EXPECT_EQ(summary("cut")["steps"], 1);
  EXPECT_TRUE(fs::exists(dir_ / "cut/checkpoints/step-000000001.h5"));
  const Outcome resumed = run_program(command(2, "cut"));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  EXPECT_EQ(text(dir_ / "whole" / "episodes.csv"), text(dir_ / "cut" / "episodes.csv"));
}

TEST_F(Phase2Test, SavesByTimeBetweenEvaluations) {
  const std::string seldom =
      "--set training.eval_interval=100 --set checkpoint.save_interval_s=0.001";
  ASSERT_EQ(run_program(command(2, "whole", seldom)).exit_code, 0);
  ASSERT_NE(
      run_program(command(2, "cut", seldom, "TRAFFIC_FAULT=phase2.collect:1:2:kill")).exit_code, 0);
  const Outcome resumed = run_program(command(2, "cut", seldom));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_THAT(resumed.output, HasSubstr("going on from checkpoint"));
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
}

TEST_F(Phase2Test, AFailedEvaluationKeepsTheResultsOfTheTraining) {
  fs::create_directories(dir_ / "run" / "evaluation.json");  // the evaluation cannot write its file
  const Outcome failed =
      run_program(command(1, "run", "--set training.iterations=1 --set evaluation.seeds=1..1"));
  EXPECT_EQ(failed.exit_code, 8) << failed.output;
  const auto summary = this->summary("run");
  EXPECT_EQ(summary["status"], "failed");
  EXPECT_EQ(summary["exit_code"], 8);
  EXPECT_THAT(std::string(summary["message"]), HasSubstr("the evaluation failed"));
  EXPECT_EQ(summary["steps"], 1);
  EXPECT_TRUE(summary["result"].contains("gain")) << summary;
  EXPECT_NE(summary["parameters_xxh3"], "");
}

TEST_F(Phase2Test, AnEvaluationMayTakeLongerThanRanksWaitForEachOther) {
  const Outcome outcome = run_program(
      command(2, "run",
              "--set evaluation.seeds=1..24 --set env.max_time_s=0 --set training.iterations=1 "
              "--set episodes.train_batch_size=20 --set episodes.rollout_fragment_length=5 "
              "--set training.eval_episodes=1 --set episodes.baseline_episodes=1 "
              "--set comm.init_timeout_s=8 --set comm.timeout_s=8"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(summary("run")["result"].contains("evaluation"));
}

TEST_F(Phase2Test, AControllerOfACheckpointIsEvaluatedBesideTheScriptedOnes) {
  ASSERT_EQ(run_program(command(1, "run")).exit_code, 0);
  const std::string best = (dir_ / "run" / "checkpoints" / "best.h5").string();
  const Outcome outcome =
      run_program(TRAFFIC_BIN_DIR
                  "/traffic_eval --controller none --controller meter --controller checkpoint:" +
                  best + " --seeds 1..2 --json " + (dir_ / "e.json").string());
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("run/checkpoints/best.h5"));
  std::ifstream in(dir_ / "e.json");
  const std::string json{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(json, HasSubstr("checkpoint:" + best)) << "the JSON must have the whole name";
}

TEST_F(Phase2Test, IsEvaluatedInTheEnvironmentOfTheFirstCheckpointWithSetOnTop) {
  const std::string few = "--set training.iterations=1 --set env.commit_s=7 --set env.zone_m=";
  ASSERT_EQ(run_program(command(1, "a", few + "90")).exit_code, 0);
  ASSERT_EQ(run_program(command(1, "b", few + "80")).exit_code, 0);
  const auto name_of = [&](const char* run) {
    return "checkpoint:" + (dir_ / run / "checkpoints" / "best.h5").string();
  };
  const Outcome outcome = run_program(TRAFFIC_BIN_DIR
                                      "/traffic_eval --print-config --set env.max_time_s=40 "
                                      "--controller none --controller " +
                                      name_of("a") + " --controller " + name_of("b"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  for (const char* line : {"max_time_s = 40.0\n", "commit_s = 7.0\n", "zone_m = 90.0\n"}) {
    EXPECT_THAT(outcome.output, HasSubstr(line));
  }
  EXPECT_THAT(outcome.output,
              HasSubstr("all controllers are evaluated in the environment of " + name_of("a") +
                        "; " + name_of("b") + " was trained with another env.zone_m\n"));
  EXPECT_EQ(run_program(TRAFFIC_BIN_DIR "/traffic_eval --set env.max_tim_s=40 --controller " +
                        name_of("a"))
                .exit_code,
            2);
}

TEST_F(Phase2Test, RemovedKeysOfACheckpointAreIgnoredAndNamedOnce) {
  ASSERT_EQ(run_program(command(2, "run", "--set training.iterations=2")).exit_code, 0);
  const fs::path old = dir_ / "old.h5";
  write_as_older_version(dir_ / "run" / "checkpoints" / "phase2.h5", old);
  const std::string names = "does not know: model.old_width, ";
  const Outcome evaluated = run_program(
      TRAFFIC_BIN_DIR "/traffic_eval --controller none --controller checkpoint:" + old.string() +
      " --seeds 1..2 --jobs 2");
  EXPECT_EQ(evaluated.exit_code, 0) << evaluated.output;
  EXPECT_EQ(count(evaluated.output, names), 1) << evaluated.output;
  EXPECT_THAT(evaluated.output, HasSubstr("old_table"));
  const Outcome resumed =
      run_program(command(2, "run", "--set training.iterations=3 --resume " + old.string()));
  EXPECT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(count(resumed.output, names), 1) << resumed.output;
  const Outcome started = run_program(
      command(2, "new", "--set training.iterations=1 --set run.init_from=" + old.string()));
  EXPECT_EQ(started.exit_code, 0) << started.output;
  EXPECT_EQ(count(started.output, names), 1) << started.output;
  // Unknown keys in the settings of the user, and other sizes of the model, are still refused.
  EXPECT_EQ(run_program(command(2, "no", "--set model.old_width=3")).exit_code, 2);
  const Outcome other =
      run_program(command(2, "no", "--set vehicles.hidden_dim=8 --resume " + old.string()));
  EXPECT_EQ(other.exit_code, 4) << other.output;
}

TEST_F(Phase2Test, CrashesAndInvalidAnswersCostOnlyTheirEpisodes) {
  // A fault that has a probability may not occur in a run, so the first case adds one that always
  // occurs.
  for (const auto& [fault, said_of_each] :
       {std::pair("sumo_env.step:*:p0.002:segv,sumo_env.step:1:100:segv", "fault segv at"),
        std::pair("sumo_env.step:0:100:huge", "episode was lost and is run again (")}) {
    const Outcome outcome =
        run_program(command(2, "run", "", std::string("TRAFFIC_FAULT=") + fault));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_EQ(summary("run")["steps"], 3);
    EXPECT_GE(summary("run")["faults"]["lost_episodes"], 1) << fault;
    const int lost = summary("run")["faults"]["lost_episodes"];
    std::printf("%s: %d episodes lost\n", fault, lost);
    EXPECT_EQ(count(text(dir_ / "run/logs/error.log"), said_of_each), lost);
    EXPECT_GT(summary("run")["result"]["total_timesteps"], 0) << fault;
    fs::remove_all(dir_ / "run");
  }
}

TEST_F(Phase2Test, ContinuesWithOtherNumbersOfRanks) {
  ASSERT_EQ(run_program(command(2, "run", "--set training.iterations=1")).exit_code, 0);
  for (const int ranks : {3, 1}) {
    const std::string more = "--set training.iterations=" + std::to_string(ranks == 3 ? 2 : 3);
    const Outcome outcome = run_program(command(ranks, "run", more));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("not bit-identical"));
    EXPECT_EQ(summary("run")["world_size"], ranks);
  }
  EXPECT_EQ(summary("run")["steps"], 3);
}

TEST_F(Phase2Test, TrainsOnAMixtureOfScenarios) {
  const std::string mixture =
      "--set 'env.scenarios=[\"merge:2\",\"corridor\"]' --set episodes.train_batch_size=160 "
      "--set training.eval_episodes=4 --set training.iterations=2 --set imitation.iterations=1 "
      "--set 'imitation.controllers=[\"meter\",\"none\"]'";
  const Outcome outcome = run_program(command(2, "a", mixture));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("\n  merge: meter gains "));
  EXPECT_THAT(outcome.output, HasSubstr("\n  corridor: none gains +0.00 +- 0.00 %, the policy "));
  EXPECT_TRUE(summary("a")["result"].contains("script_gain_merge"));
  ASSERT_EQ(run_program(command(2, "b", mixture)).exit_code, 0);
  EXPECT_EQ(summary("a")["parameters_xxh3"], summary("b")["parameters_xxh3"]);
  EXPECT_EQ(text(dir_ / "a" / "episodes.csv"), text(dir_ / "b" / "episodes.csv"));
  const std::string metrics = text(dir_ / "a" / "metrics.jsonl");
  EXPECT_THAT(metrics, HasSubstr("eval/gain_merge"));
  EXPECT_THAT(metrics, HasSubstr("eval/gain_corridor"));
  EXPECT_THAT(metrics, HasSubstr("train/imitation_agreement_merge"));
  EXPECT_THAT(metrics, HasSubstr("train/imitation_agreement_corridor"));
  // Training uses both scenarios and keeps the baselines of both.
  const std::string episodes = text(dir_ / "a" / "episodes.csv");
  EXPECT_THAT(episodes, HasSubstr(",train,0,"));
  EXPECT_THAT(episodes, HasSubstr(",train,1,"));
  EXPECT_EQ(std::distance(fs::directory_iterator(dir_ / "cache"), fs::directory_iterator()), 2);
}

TEST_F(Phase2Test, ImitatesAScriptedControllerBeforeItLearnsByItself) {
  const Outcome outcome = run_program(
      command(2, "run",
              "--set 'vehicles.advisor=\"\"' "
              "--set env.scenario=corridor --set env.max_time_s=150 --set env.zone_m=200 "
              "--set env.lead_only=true --set vehicles.top_k=10 --set "
              "'vehicles.commands=[\"none\",\"arrive_late\"]' "
              "--set imitation.iterations=3 --set 'imitation.controllers=[\"yield\"]' "
              "--set training.iterations=4 --set ppo.num_epochs=20 --set ppo.learning_rate=0.01 "
              "--set episodes.rollout_fragment_length=20"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  std::vector<double> losses;
  std::vector<double> cv_steps;
  std::ifstream metrics(dir_ / "run" / "metrics.jsonl");
  for (std::string line; std::getline(metrics, line);) {
    const auto row = nlohmann::json::parse(line);
    if (!row.contains("train/imitation_loss")) continue;
    losses.push_back(row["train/imitation_loss"]);
    cv_steps.push_back(row.value("rollout/cv_steps", 0.0));
  }
  ASSERT_EQ(losses.size(), 4U);
  EXPECT_GT(cv_steps[0], 0.0) << "the script must have commanded some vehicles";
  // An untrained controller commands a vehicle with probability 0.35. Its loss would therefore be
  // -log(0.65) if the script commanded no vehicle. Imitation must reach a lower loss.
  EXPECT_LT(losses[2], -std::log(0.65));
  EXPECT_EQ(losses[3], 0.0) << "the last iteration must learn by PPO, not by imitation";
  const auto result = summary("run")["result"];
  EXPECT_EQ(result["script"], "yield");
  EXPECT_THAT(result["kept"], ::testing::AnyOf("script yield", "imitation", "ppo"));
  for (const char* figure : {"script_gain", "imitation_gain", "gain_over_script"}) {
    EXPECT_TRUE(result.contains(figure)) << figure;
  }
  EXPECT_THAT(outcome.output, HasSubstr("the script yield gains "));
  EXPECT_EQ(result["controller"] == "yield", result["kept"] == "script yield");
}

TEST_F(Phase2Test, DaggerEndsWithTheSameBitsIfTheRunIsResumed) {
  const std::string dagger =
      "--set 'vehicles.inputs=[\"features\",\"globals\"]' --set env.max_time_s=240 "
      "--set imitation.controllers='[\"meter\"]' --set imitation.dagger_share=1 "
      "--set imitation.iterations=3 --set ppo.num_epochs=20 --set ppo.learning_rate=0.01 ";
  ASSERT_EQ(run_program(command(2, "whole", dagger + "--set training.iterations=3")).exit_code, 0);
  ASSERT_EQ(run_program(command(2, "parts", dagger + "--set training.iterations=2")).exit_code, 0);
  ASSERT_EQ(run_program(command(2, "parts", dagger + "--set training.iterations=3")).exit_code, 0);
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("parts")["parameters_xxh3"]);
  EXPECT_EQ(text(dir_ / "whole" / "episodes.csv"), text(dir_ / "parts" / "episodes.csv"));
  ASSERT_EQ(run_program(command(2, "script",
                                dagger + "--set training.iterations=3 "
                                         "--set imitation.dagger_share=0"))
                .exit_code,
            0);
  const auto losses = [&](const std::string& run) {
    std::vector<double> all;
    std::ifstream metrics(dir_ / run / "metrics.jsonl");
    for (std::string line; std::getline(metrics, line);) {
      const auto row = nlohmann::json::parse(line);
      if (row.contains("train/imitation_loss")) all.push_back(row["train/imitation_loss"]);
    }
    return all;
  };
  const std::vector<double> own = losses("whole");
  const std::vector<double> script = losses("script");
  ASSERT_EQ(own.size(), 3U);
  EXPECT_EQ(own[0], script[0]) << "the script gives the commands in the first iteration";
  EXPECT_NE(own[1], script[1]);
  EXPECT_LT(own[2], own[0]) << "the policy learns from the commands that the script would give";
}

/// Settings with an advisor, and with traffic in which the advisor gives commands.
const std::string kAdvised =
    "--set 'vehicles.inputs=[\"features\",\"globals\"]' --set env.max_time_s=300 "
    "--set 'vehicles.advisor=meter(density=10)' --set env.zone_m=100 "
    "--set vehicles.top_k=10 --set training.decide=greedy ";

TEST_F(Phase2Test, AnAdvisedPolicyBeginsAsItsScript) {
  const Outcome outcome = run_program(
      command(2, "run",
              kAdvised + "--set training.iterations=1 --set training.eval_interval=9 "
                         "--set ppo.learning_rate=1e-9 --set ppo.final_learning_rate=1e-9 "
                         "--set evaluation.seeds=1..2 "
                         "--set 'evaluation.controllers=[\"none\",\"meter(density=10)\"]'"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  const auto result = summary("run")["result"];
  EXPECT_EQ(result["script"], "meter(density=10)");
  EXPECT_NE(result["script_gain"].get<double>(), 0.0);
  EXPECT_EQ(result["gain_over_script"].get<double>(), 0.0);
  EXPECT_GT(result["cv_steps"].get<double>(), 0.0);
  EXPECT_THAT(result["kept"], ::testing::AnyOf("advice", "ppo"));
  EXPECT_FALSE(result.contains("imitation_gain"));
}

TEST_F(Phase2Test, AnAdvisedPolicyLearnsTheSameBitsIfTheRunIsResumed) {
  ASSERT_EQ(run_program(command(2, "whole", kAdvised)).exit_code, 0);
  ASSERT_EQ(run_program(command(2, "parts", kAdvised + "--set training.iterations=1")).exit_code,
            0);
  ASSERT_EQ(run_program(command(2, "parts", kAdvised)).exit_code, 0);
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("parts")["parameters_xxh3"]);
  // A checkpoint stores its advisor, because with another advisor the same weights give other
  // commands.
  const std::string from =
      "--set run.init_from=" + (dir_ / "whole" / "checkpoints" / "phase2.h5").string();
  for (const std::string how : {"", " --dry-run"}) {
    const Outcome other =
        run_program(command(2, "other", kAdvised + "--set vehicles.advisor=meter " + from + how));
    EXPECT_EQ(other.exit_code, 4) << other.output;
    EXPECT_THAT(other.output, HasSubstr("vehicles.advisor = \"meter(density=10)\", "
                                        "this run has \"meter\""));
  }
  const Outcome fits = run_program(command(2, "fits", kAdvised + from + " --dry-run"));
  EXPECT_EQ(fits.exit_code, 0) << fits.output;
}

/// Settings in which the entropy bonus outweighs the reward. A controller that starts without
/// commands therefore learns to stop all vehicles.
const std::string kUnlearns =
    "--set 'vehicles.inputs=[\"features\",\"globals\"]' --set env.max_time_s=180 "
    "--set vehicles.first_command_probability=0.02 --set ppo.ent_coef=10 "
    "--set ppo.learning_rate=0.02 --set ppo.final_learning_rate=0.02 --set ppo.target_kl=0 "
    "--set training.rollback_factor=0.25 --set training.decide=sampled "
    "--set training.iterations=4 --set training.eval_interval=1 --set training.eval_episodes=6 ";

TEST_F(Phase2Test, AFallOfTheGainReturnsToTheBestAlsoInAResumedRun) {
  const Outcome outcome = run_program(command(2, "whole", kUnlearns));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output,
              HasSubstr("returns to the best controller, with 0.25 times the learning rate"));
  EXPECT_GE(summary("whole")["result"]["rollbacks"], 1);
  // Kills a second run in the iteration after the first return to the best controller.
  std::int64_t fell = 0;
  double rate = 0;
  std::ifstream metrics(dir_ / "whole" / "metrics.jsonl");
  for (std::string line; std::getline(metrics, line) && fell == 0;) {
    const auto row = nlohmann::json::parse(line);
    rate = row.value("train/learning_rate", rate);
    if (rate < 0.02 && row.contains("train/learning_rate")) fell = row["step"].get<int>() - 1;
  }
  ASSERT_GT(fell, 0);
  EXPECT_DOUBLE_EQ(rate, 0.02 * 0.25);
  const std::string kill = "TRAFFIC_FAULT=phase2.collect:0:" + std::to_string(fell) + ":kill";
  ASSERT_NE(run_program(command(2, "cut", kUnlearns, kill)).exit_code, 0);
  const Outcome resumed = run_program(command(2, "cut", kUnlearns));
  ASSERT_EQ(resumed.exit_code, 0) << resumed.output;
  EXPECT_EQ(summary("whole")["parameters_xxh3"], summary("cut")["parameters_xxh3"]);
  EXPECT_EQ(summary("whole")["result"]["rollbacks"], summary("cut")["result"]["rollbacks"]);
  EXPECT_EQ(text(dir_ / "whole" / "episodes.csv"), text(dir_ / "cut" / "episodes.csv"));
}

TEST_F(Phase2Test, APolicyWithoutCommandsIsReportedOnceAsNoControl) {
  const Outcome outcome =
      run_program(command(1, "run",
                          "--set 'vehicles.inputs=[\"features\",\"globals\"]' "
                          "--set env.max_time_s=60 --set vehicles.first_command_probability=0.02 "
                          "--set training.decide=greedy --set ppo.learning_rate=1e-6 "
                          "--set ppo.final_learning_rate=1e-6 "
                          "--set training.iterations=2 --set training.eval_interval=1"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("0 vehicle-steps under control"));
  const std::string said = "the policy commands no vehicle on these seeds";
  EXPECT_THAT(outcome.output, HasSubstr(said));
  EXPECT_EQ(outcome.output.find(said), outcome.output.rfind(said)) << outcome.output;
}

TEST_F(Phase2Test, AnEvaluationConfirmsTheGainThatTheTrainingReports) {
  for (const std::string decides : {"greedy", "sampled"}) {
    ASSERT_EQ(run_program(command(2, decides,
                                  "--set 'vehicles.inputs=[\"features\",\"globals\"]' "
                                  "--set env.max_time_s=240 --set training.iterations=1 "
                                  "--set training.decide=" +
                                      decides))
                  .exit_code,
              0);
    EXPECT_EQ(summary(decides)["result"]["decides"], decides);
    const std::string best = (dir_ / decides / "checkpoints" / "phase2.h5").string();
    // The first seeds of the final comparison (rollouts/baseline_runs.h).
    const std::string other = decides == "greedy" ? "sampled" : "greedy";
    const Outcome outcome =
        run_program(TRAFFIC_BIN_DIR
                    "/traffic_eval --seeds 850000000..850000001 --controller none "
                    "--controller checkpoint:" +
                    best + " --controller checkpoint:" + best + "," + other + " --json " +
                    (dir_ / "e.json").string());
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
    const auto rows = nlohmann::json::parse(text(dir_ / "e.json"))["controllers"];
    EXPECT_DOUBLE_EQ(rows[1]["ocr_all"], summary(decides)["result"]["ocr_all"]) << decides;
    EXPECT_NE(rows[2]["interventions"], rows[1]["interventions"])
        << "greedy and sampled decisions must differ";
  }
}

TEST_F(Phase2Test, WithoutAUsableCacheBaselinesAreMeasuredAgain) {
  const std::string few = "--set training.iterations=1 ";
  std::ofstream(dir_ / "file") << "no folder";
  const std::string nowhere = "--set episodes.baseline_cache=" + (dir_ / "file/cache").string();
  const Outcome not_kept = run_program(command(2, "a", few + nowhere));
  ASSERT_EQ(not_kept.exit_code, 0) << not_kept.output;
  EXPECT_THAT(not_kept.output, HasSubstr("are not kept (episodes.baseline_cache)"));
  ASSERT_EQ(run_program(command(2, "b", few)).exit_code, 0);
  const fs::path kept = fs::directory_iterator(dir_ / "cache")->path();
  fs::resize_file(kept, fs::file_size(kept) / 2);
  const Outcome damaged = run_program(command(2, "c", few));
  ASSERT_EQ(damaged.exit_code, 0) << damaged.output;
  EXPECT_THAT(damaged.output, HasSubstr("are measured again"));
  const Outcome mended = run_program(command(2, "d", few));
  ASSERT_EQ(mended.exit_code, 0) << mended.output;
  EXPECT_THAT(mended.output, HasSubstr("were read from " + kept.string()));
  for (const char* run : {"b", "c", "d"}) {
    EXPECT_EQ(summary(run)["parameters_xxh3"], summary("a")["parameters_xxh3"]) << run;
  }
}

TEST_F(Phase2Test, ADryRunMeasuresLittleAndKeepsNothing) {
  const Outcome outcome = run_program(command(
      2, "run", "--dry-run --set episodes.baseline_episodes=10000 --set env.max_time_s=900"));
  ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("network merge: 1 conflict, 2 approaches"));
  EXPECT_THAT(outcome.output, HasSubstr("measured 1 uncontrolled episodes of 6 s of merge"));
  // A scenario with more conflicts works as well.
  const Outcome corridor =
      run_program(command(2, "other", "--dry-run --set env.scenario=corridor"));
  EXPECT_THAT(corridor.output, HasSubstr("measured 1 uncontrolled episodes of 6 s of corridor"));
  EXPECT_FALSE(fs::exists(dir_ / "cache"));
  std::ifstream in(dir_ / "run/config.toml");
  const std::string kept{std::istreambuf_iterator<char>(in), {}};
  EXPECT_THAT(kept, HasSubstr("baseline_episodes = 10000"));
}

TEST_F(Phase2Test, NothingIsTrainedWithoutConnectedVehicles) {
  for (const char* how : {"", "--dry-run "}) {
    const Outcome outcome =
        run_program(command(2, "run", std::string(how) + "--set 'env.cv_types=[\"truck\"]'"));
    EXPECT_EQ(outcome.exit_code, 2) << outcome.output;
    EXPECT_THAT(outcome.output, HasSubstr("no vehicle is of type 'truck'"));
  }
}

TEST_F(Phase2Test, RandomPerceptionMustBeAllowedByAKey) {
  const std::string unasked = "--set run.allow_random_perception=false ";
  for (const char* how : {"", "--dry-run"}) {
    const Outcome refused = run_program(command(2, "run", unasked + how));
    EXPECT_EQ(refused.exit_code, 2) << refused.output;
    for (const char* part : {"run.init_from", "vehicles.inputs=[", "allow_random_perception"}) {
      EXPECT_THAT(refused.output, HasSubstr(part));
    }
    EXPECT_THAT(refused.output, ::testing::Not(HasSubstr("uncontrolled")))
        << "no simulation may run before the refusal";
    EXPECT_FALSE(fs::exists(dir_ / "run")) << "the refused run must not leave a folder behind";
  }
  // Only a new run needs the permission: a resumed one has the weights of its checkpoint.
  ASSERT_EQ(run_program(command(2, "run", "--set training.iterations=1")).exit_code, 0);
  EXPECT_EQ(run_program(command(2, "run", "--set training.iterations=2 " + unasked)).exit_code, 0);
  EXPECT_EQ(run_program(command(2, "features",
                                unasked + "--set 'vehicles.inputs=[\"features\",\"globals\"]' "
                                          "--set training.iterations=1"))
                .exit_code,
            0);
}

TEST_F(Phase2Test, RefusesAMissingScenario) {
  const Outcome outcome = run_program(command(2, "run", "--set env.scenario=nowhere"));
  EXPECT_THAT(outcome.exit_code, ::testing::AnyOf(3, 6)) << outcome.output;
  EXPECT_THAT(outcome.output, HasSubstr("merge"));
}

}  // namespace
}  // namespace traffic::test
