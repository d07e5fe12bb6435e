#include "record_worker.h"

#include <filesystem>
#include <memory>
#include <unordered_map>
#include <vector>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/signals.h"
#include "traffic/core/version.h"
#include "traffic/data/scene_file.h"
#include "traffic/data/writer.h"
#include "traffic/scene/controller.h"
#include "traffic/sim/controller_driver.h"
#include "traffic/sim/scene_recorder.h"

namespace traffic::data_prep {
namespace {

constexpr double kHeartbeatSeconds = 1.0;
/// Ids of vehicles in an episode are smaller.
constexpr std::uint32_t kFirstNewNumber = std::uint32_t{1} << 31U;

sim::EnvOptions at_first_episode(const RecordJob& job, const RecordPlan& plan) {
  sim::EnvOptions options = job.env;
  options.seed = plan.episodes.at(job.first_episode).seed;
  return options;
}

/// Counts the steps and episodes of a worker and reports them to its parent about once a second.
class Pulse {
 public:
  explicit Pulse(const Heartbeat& heartbeat) : heartbeat_(heartbeat) {}

  /// @throws Error if a stop is requested
  void check_stop() const {
    if (stop_requested()) throw Error("stopped by request", ExitCode::kStopped);
  }
  void end_steps(std::int64_t steps) {
    steps_ += steps;
    fault::hit("record.step", 0, steps_);
    if (since_heartbeat_.seconds() >= kHeartbeatSeconds) beat();
  }
  void end_episode() {
    ++episodes_done_;
    beat();
  }

 private:
  void beat() {
    since_heartbeat_ = Stopwatch();
    heartbeat_(episodes_done_, steps_);
  }

  const Heartbeat& heartbeat_;
  Stopwatch since_heartbeat_;
  std::size_t episodes_done_ = 0;
  std::int64_t steps_ = 0;
};

/// Records episodes of one simulation.
class Recorder {
 public:
  Recorder(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
           const Heartbeat& heartbeat)
      : options_(options), pulse_(heartbeat), env_(at_first_episode(job, plan)) {
    for (const auto& name : plan.controllers) {
      controllers_.push_back(scene::make_controller(name));
    }
  }

  [[nodiscard]] double step_length_s() const { return env_.step_length_s(); }

  void record(const PlannedEpisode& episode, data::DatasetWriter& writer) {
    env_.set_demand_factor(episode.demand_scale);
    env_.reset(episode.seed);
    driver_.begin(controllers_[episode.controller].get(), env_, episode.seed);
    writer.begin_episode({.seed = episode.seed,
                          .split = episode.split,
                          .demand_scale = episode.demand_scale,
                          .controller = episode.controller});
    numbers_.clear();
    std::int64_t steps = 0;
    while (!env_.done() && (options_.max_steps == 0 || steps < options_.max_steps)) {
      pulse_.check_stop();
      (void)driver_.act(env_);
      env_.step();
      ++steps;
      for (const std::uint32_t id : env_.teleported()) {
        numbers_[id] = kFirstNewNumber + next_number_++;
      }
      if (steps % options_.record_every == 0) append(writer);
      pulse_.end_steps(1);
    }
    writer.end_episode();
    pulse_.end_episode();
  }

 private:
  /// Appends the present frame. A vehicle that SUMO has teleported counts as a new vehicle, since a
  /// world model must not learn from the jump.
  void append(data::DatasetWriter& writer) {
    if (numbers_.empty()) {
      writer.append(env_.frame());
      return;
    }
    scene::GraphFrame frame = env_.frame();
    for (std::uint32_t& id : frame.vehicle_id) {
      if (const auto found = numbers_.find(id); found != numbers_.end()) id = found->second;
    }
    writer.append(frame);
  }

  const RecordOptions& options_;
  Pulse pulse_;
  std::unordered_map<std::uint32_t, std::uint32_t> numbers_;  ///< of vehicles after a teleport
  std::uint32_t next_number_ = 0;
  sim::SumoEnv env_;
  std::vector<std::unique_ptr<scene::Controller>> controllers_;
  sim::ControllerDriver driver_;
};

void record_scene(sim::SceneRecorder& recorder, const PlannedEpisode& episode,
                  const RecordOptions& options, Pulse& pulse) {
  recorder.set_demand_factor(episode.demand_scale);
  recorder.begin(episode.seed);
  std::int64_t steps = 0;
  while (!recorder.done() && (options.max_steps == 0 || steps < options.max_steps)) {
    pulse.check_stop();
    recorder.advance();
    steps += sim::kStepsPerFrame;
    pulse.end_steps(sim::kStepsPerFrame);
  }
}

std::string splitting_rule(const RecordOptions& options) {
  return fmt::format("by episode, {} for train, validation, test", options.split);
}

}  // namespace

void record_scenes(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
                   const std::string& command_line, const Heartbeat& heartbeat) {
  data::SceneFileInfo info;
  info.scenario = std::filesystem::path(job.env.scenario).stem().string();
  info.source = sim::sumo_version();
  info.program_version = version();
  info.command_line = command_line;
  info.created_utc = utc_timestamp();
  info.splitting = splitting_rule(options);
  data::SceneWriter writer(job.file, info, {.compression_level = options.compression_level});
  sim::SceneRecorder recorder(job.env);
  Pulse pulse(heartbeat);
  for (std::size_t i = job.first_episode; i < job.end_episode; ++i) {
    const PlannedEpisode& episode = plan.episodes[i];
    record_scene(recorder, episode, options, pulse);
    writer.add(recorder.take(), {.split = episode.split, .demand_scale = episode.demand_scale});
    pulse.end_episode();
  }
  writer.finish();
}

void record_episodes(const RecordJob& job, const RecordPlan& plan, const RecordOptions& options,
                     const std::string& command_line, const Heartbeat& heartbeat) {
  Recorder recorder(job, plan, options, heartbeat);
  data::FileInfo info = data::file_info_of_this_program();
  info.scenario = std::filesystem::path(job.env.scenario).stem().string();
  info.step_length_s = recorder.step_length_s();
  info.frame_interval_s = recorder.step_length_s() * static_cast<double>(options.record_every);
  info.program_version = version();
  info.sumo_version = sim::sumo_version();
  info.command_line = command_line;
  info.created_utc = utc_timestamp();
  info.splitting = splitting_rule(options);
  info.controller_names = plan.controllers;
  data::DatasetWriter writer(
      job.file, info, {.float16 = options.float16, .compression_level = options.compression_level});
  for (std::size_t i = job.first_episode; i < job.end_episode; ++i) {
    recorder.record(plan.episodes[i], writer);
  }
  writer.finish();
}

}  // namespace traffic::data_prep
