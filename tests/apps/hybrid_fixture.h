/// Base of tests that run all phases of traffic_train in one run, with few steps and short episodes
/// on two ranks.
#pragma once

#include <string>

#include "train_fixture.h"

namespace traffic::test {

class HybridTest : public TrainTest {
 protected:
  [[nodiscard]] std::string all_phases(const std::string& run, const std::string& arguments = "",
                                       const std::string& environment = "") const {
    return "env " + environment + " " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np 2 " +
           TRAFFIC_BIN_DIR "/traffic_train " TRAFFIC_SOURCE_DIR "/configs/hybrid.toml --run-dir " +
           (dir_ / run).string() + " --set 'data.files=[\"" + (dir_ / "row.h5").string() +
           "\"]' --set model.hidden_dim=16 --set model.gnn_layers=1 --set model.num_heads=2 "
           "--set model.lstm_hidden=16 --set model.latent_dim=4 --set vehicles.hidden_dim=16 "
           "--set phase1.train.max_steps=6 --set data.batch_size=4 "
           "--set checkpoint.save_interval_steps=2 --set env.max_time_s=45 "
           "--set rollout.workers=1 --set rollout.envs_per_worker=2 --set "
           "episodes.train_batch_size=30 "
           "--set ppo.minibatch_size=15 --set ppo.num_epochs=1 --set training.eval_interval=1 "
           "--set training.eval_episodes=2 --set episodes.baseline_episodes=2 --set "
           "phase2.training.iterations=2 "
           "--set phase3.training.iterations=2 --set evaluation.seeds=1..2 --set comm.timeout_s=60 "
           "--set episodes.baseline_cache=" +
           (dir_ / "cache").string() + " " + arguments;
  }
  [[nodiscard]] static std::string result_of(const std::string& run, int phase) {
    const std::string number = std::to_string(phase);
    return run + "/phase" + number + "/checkpoints/phase" + number + ".h5";
  }
};

}  // namespace traffic::test
