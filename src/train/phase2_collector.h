/// Runs episodes in the pool of simulations, deciding for all of a group in one batch.
#pragma once

#include <torch/torch.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "phase2_experience.h"
#include "phase2_perception.h"
#include "phase2_policy.h"
#include "traffic/config/config.h"
#include "traffic/report/time_split.h"
#include "traffic/rl/baseline_curve.h"
#include "traffic/rollout/env_pool.h"
#include "traffic/scene/score.h"

namespace traffic::train {

/// An episode to run.
struct EpisodeRequest {
  std::int64_t order = 0;  ///< place among the requests of all ranks
  std::uint64_t seed = 0;  ///< of the traffic
};

/// What became of it.
struct EpisodeOutcome {
  std::int64_t order = 0;
  std::uint64_t seed = 0;
  std::int64_t steps = 0;  ///< control steps
  double reward = 0;       ///< sum over steps and conflicts
  scene::EpisodeScore score;
};

/// The reward of a control period: growth of the score's numerator less what uncontrolled traffic
/// gains at that time, over the expected demand.
class Reward {
 public:
  Reward(const rl::BaselineCurve& baseline, double expected_demand, double scale);
  [[nodiscard]] std::vector<float> operator()(const rollout::Period& period, double from_s) const;

 private:
  const rl::BaselineCurve& baseline_;
  double scale_;
};

class Collector {
 public:
  Collector(const config::Config& config, rollout::EnvPool& pool, report::TimeSplit& time_split)
      : config_(config), pool_(pool), time_split_(time_split) {}

  /// Uncontrolled episodes; on_period is called with the place in `requests` and each period.
  std::vector<EpisodeOutcome> run_uncontrolled(
      const std::vector<EpisodeRequest>& requests,
      const std::function<void(std::size_t, const rollout::Period&)>& on_period = {});

  struct Driver {
    Perception* perception = nullptr;
    Policy* policy = nullptr;
    const Reward* reward = nullptr;
    std::optional<std::uint64_t> sampling_seed{};  ///< nothing: greedy, and nothing is kept
  };
  struct Collected {
    std::vector<EpisodeOutcome> outcomes;  ///< in the order of the requests
    std::vector<Trajectory> trajectories;  ///< likewise; none when greedy
  };
  /// Episodes of the policy.
  Collected run(const std::vector<EpisodeRequest>& requests, const Driver& driver);

  /// Simulation steps of this rank's episodes so far.
  [[nodiscard]] std::int64_t env_steps() const { return env_steps_; }
  [[nodiscard]] std::int64_t lost_episodes() const { return lost_episodes_; }

 private:
  /// Where a command's costs are to be charged.
  struct Charge {
    std::size_t step = 0;
    std::size_t decision = 0;
  };
  struct Slot {
    std::optional<std::size_t> request = std::nullopt;  ///< running
    std::int64_t losses = 0;                            ///< of this request
    double time_s = 0;
    EpisodeOutcome outcome{};
    Trajectory trajectory{};
    Memory memory{};
    std::map<std::uint32_t, Charge> charges{};
  };
  struct Job;  ///< one call of run or run_uncontrolled

  void drive(Job& job);
  void begin(Job& job, int env);
  void end(Job& job, int env, const rollout::Period& period);
  void handle(Job& job, const rollout::Event& event, std::vector<int>& deciding);
  void take_in(Job& job, Slot& slot, const rollout::Period& period);
  void decide(Job& job, const std::vector<int>& envs);
  void act(Job& job, int env, const ObservationBatch& seen, std::int64_t b,
           const Decisions& decisions);

  config::Config config_;
  rollout::EnvPool& pool_;
  report::TimeSplit& time_split_;
  std::int64_t env_steps_ = 0;
  std::int64_t lost_episodes_ = 0;
};

}  // namespace traffic::train
