#include "evaluate/episode.h"

#include <torch/utils.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "evaluate/figures.h"
#include "evaluate/recording.h"
#include "evaluate/replay.h"
#include "policy/policy_controller.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/controller_spec.h"
#include "traffic/core/error.h"
#include "traffic/model/memory.h"
#include "traffic/scene/joint_controller.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/sumo_env.h"
#include "traffic/train/evaluate/environment.h"

namespace traffic::train {
namespace {

/// Detects traffic jams: periods of five minutes in which no vehicle arrives although at least ten
/// are driving.
class JamWatch {
 public:
  void update(const scene::EpisodeScore& score) {
    constexpr std::int64_t kMany = 10;
    if (score.arrived != arrived_ || score.running < kMany) {
      arrived_ = score.arrived;
      since_s_ = score.seconds;
    }
    jammed_ |= score.seconds - since_s_ >= kJam_s;
  }
  [[nodiscard]] bool is_jammed() const { return jammed_; }

 private:
  static constexpr double kJam_s = 300.0;
  std::int64_t arrived_ = 0;
  double since_s_ = 0;
  bool jammed_ = false;
};

std::unique_ptr<scene::Controller> make_part(const config::Config& config, std::string_view name) {
  if (const auto trained = checkpoint_name(name)) return make_policy_controller(*trained);
  return scene::make_controller(name, sim::controller_options(config));
}

}  // namespace

std::unique_ptr<scene::Controller> make_controller(const config::Config& config,
                                                   const std::string& name) {
  std::vector<std::unique_ptr<scene::Controller>> parts;
  for (const std::string_view part : config::controller_parts(name)) {
    parts.push_back(make_part(config, part));
  }
  const std::string& beside = config.env.beside;
  const bool is_alone = parts.size() == 1 && name != "none";
  if (is_alone && !beside.empty() &&
      parts.front()->sets_signals() != config::sets_signals(beside)) {
    parts.push_back(make_part(config, beside));
  }
  return scene::join_controllers(std::move(parts));
}

namespace {

/// @param more further arguments of SUMO for this episode
sim::EnvOptions episode_options(const EvaluationPlan& plan, std::uint64_t seed,
                                const std::vector<std::string>& more) {
  sim::EnvOptions options = sim::env_options(plan.config.env);
  options.seed = seed;
  options.emissions = measures_emissions(plan);
  options.demand_factor = plan.demand_scale;
  options.sumo_args.insert(options.sumo_args.end(), more.begin(), more.end());
  return options;
}

}  // namespace

void check_controller(const std::string& name) {
  const auto parts = config::controller_parts(name);
  if (parts.size() > 1) {
    for (const std::string_view part : parts) check_controller(std::string(part));
    return;
  }
  if (const auto trained = checkpoint_name(name)) {
    checkpoint::verify(trained->path);
    return;
  }
  try {
    config::parse_controller(name);
  } catch (const ConfigError& error) {
    throw ConfigError("--controller: {} (a trained controller is checkpoint:PATH)", error.what());
  }
}

EvaluatedEpisode run_episode(const EvaluationPlan& plan, std::size_t controller_index,
                             std::uint64_t seed, const EpisodeProgress& progress) {
  model::pool_all_tensors();
  torch::set_num_threads(1);  // several processes run at the same time and share the cores
  EvaluatedEpisode episode{.controller = controller_index, .seed = seed};
  std::vector<std::string> output;
  const bool is_replayed = !plan.replay_dir.empty() && seed == plan.seeds.front();
  if (is_replayed) output = sumo_output_arguments(plan, controller_index);
  sim::SumoEnv env(episode_options(plan, seed, output));
  const auto controller = make_controller(plan.config, plan.controllers[controller_index]);
  sim::ControllerDriver driver;
  driver.begin(controller.get(), env, seed);
  std::optional<Recording> recording;
  if (is_replayed) recording.emplace(env.road());
  JamWatch jam;
  while (!env.done()) {
    driver.act(env);
    env.step();
    jam.update(env.score());
    if (recording) recording->add(env.state());
    const auto vehicles = env.state().vehicles();
    const auto controlled =
        std::count_if(vehicles.begin(), vehicles.end(),
                      [](const scene::Vehicle& vehicle) { return vehicle.commanded; });
    episode.max_controlled = std::max<std::int64_t>(episode.max_controlled, controlled);
    const double end_s = env.state().end_s();
    episode.score = env.score();
    episode.jammed = jam.is_jammed();
    progress(end_s > 0 ? env.time_s() / end_s : 0.0, episode);
  }
  episode.score = env.score();
  if (recording) save_recording(plan, controller_index, *recording);
  return episode;
}

}  // namespace traffic::train
