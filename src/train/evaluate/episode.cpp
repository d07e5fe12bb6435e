#include "evaluate/episode.h"

#include <torch/utils.h>

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "evaluate/replay.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/controller_spec.h"
#include "traffic/core/error.h"
#include "traffic/model/memory.h"
#include "traffic/scene/joint_controller.h"
#include "traffic/sim/env_options.h"
#include "traffic/train/policy/policy_controller.h"

namespace traffic::train {
namespace {

/// Whether traffic has come to a stand: for five minutes nobody arrived though many were driving.
class JamWatch {
 public:
  void look_at(const scene::EpisodeScore& score) {
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
    throw ConfigError("--controller: {}, or checkpoint:PATH or checkpoint:PATH,sampled",
                      error.what());
  }
}

EpisodeRunner::EpisodeRunner(const EvaluationPlan& plan) : plan_(plan) {
  controllers_.resize(plan.controllers.size());
  model::pool_all_tensors();
  torch::set_num_threads(1);  // the processes share the cores
}

scene::Controller& EpisodeRunner::controller(std::size_t index) {
  auto& known = controllers_[index];
  if (known) return *known;
  std::vector<std::unique_ptr<scene::Controller>> parts;
  for (const std::string_view part : config::controller_parts(plan_.controllers[index])) {
    parts.push_back(make_part(part));
  }
  const std::string& beside = plan_.config.env.beside;
  const bool is_alone = parts.size() == 1 && plan_.controllers[index] != "none";
  if (is_alone && !beside.empty() &&
      parts.front()->sets_signals() != config::sets_signals(beside)) {
    parts.push_back(make_part(beside));
  }
  known = scene::join_controllers(std::move(parts));
  return *known;
}

std::unique_ptr<scene::Controller> EpisodeRunner::make_part(std::string_view name) const {
  if (const auto trained = checkpoint_name(name)) return make_policy_controller(*trained);
  const config::Env& env = plan_.config.env;
  scene::ControllerOptions options;
  options.candidates = {.zone_m = env.zone_m, .lead_only = env.lead_only};
  options.top_k = static_cast<int>(plan_.config.controller.top_k);
  options.period_s = env.control_period_s;
  return scene::make_controller(name, options);
}

EvaluatedEpisode EpisodeRunner::run(std::size_t controller_index, std::uint64_t seed,
                                    const std::function<void(double)>& progress) {
  EvaluatedEpisode episode{.controller = controller_index, .seed = seed};
  std::vector<std::string> extra_args;
  if (plan_.demand_scale != 1.0) extra_args = {"--scale", fmt::format("{}", plan_.demand_scale)};
  const bool is_replayed = !plan_.replay_dir.empty() && seed == plan_.seeds.front();
  if (is_replayed) {
    const auto more = sumo_output_arguments(plan_, controller_index);
    extra_args.insert(extra_args.end(), more.begin(), more.end());
  }
  if (!env_) env_.emplace(sim::env_options(plan_.config.env));
  env_->reset(seed, extra_args);
  driver_.begin(&controller(controller_index), *env_, seed);
  std::optional<Recording> recording;
  if (is_replayed) recording.emplace(env_->road());
  drive(episode, progress, recording ? &*recording : nullptr);
  if (recording) save_recording(plan_, controller_index, *recording);
  return episode;
}

void EpisodeRunner::drive(EvaluatedEpisode& episode, const std::function<void(double)>& progress,
                          Recording* recording) {
  JamWatch jam;
  while (!env_->done()) {
    driver_.act(*env_);
    env_->step();
    jam.look_at(env_->score());
    if (recording) recording->add(env_->state());
    const auto vehicles = env_->state().vehicles();
    const auto controlled =
        std::count_if(vehicles.begin(), vehicles.end(),
                      [](const scene::Vehicle& vehicle) { return vehicle.commanded; });
    episode.max_controlled = std::max<std::int64_t>(episode.max_controlled, controlled);
    const double end_s = env_->state().end_s();
    progress(end_s > 0 ? env_->time_s() / end_s : 0.0);
  }
  episode.score = env_->score();
  episode.jammed = jam.is_jammed();
}

}  // namespace traffic::train
