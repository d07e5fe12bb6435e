#include "closed_loop/drive_episode.h"

#include <torch/utils.h>

#include <nlohmann/json.hpp>

#include "closed_loop/corrections.h"
#include "closed_loop/drive_fields.h"
#include "closed_loop/drive_recording.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/report/json_file.h"
#include "traffic/report/replay_page.h"

namespace traffic::train {
namespace {

using Json = nlohmann::ordered_json;

std::filesystem::path recording_file(const DriveEvaluationPlan& plan, std::size_t driver) {
  return plan.replay_dir / fmt::format("{}.recording.json", driver);
}

std::filesystem::path corrections_file(const DriveEvaluationPlan& plan, const DriveTask& task) {
  return plan.corrections_dir /
         fmt::format("{}-{}-{}.h5",
                     std::filesystem::path(plan.scenarios[task.scenario]).stem().string(),
                     plan.seeds[task.seed], task.driver);
}

void save_recording(const DriveEvaluationPlan& plan, const DriveTask& task,
                    const DriveRecording& recording, const driving::RoadMap& map) {
  const std::string& driver = plan.drivers[task.driver];
  Json all{{"controller", driver}, {"label", report::controller_label(driver)}};
  all.update(recording.tracks(map));
  all["network"] = DriveRecording::network(map);
  write_file_atomically(recording_file(plan, task.driver), all.dump());
}

}  // namespace

std::size_t num_drive_tasks(const DriveEvaluationPlan& plan) {
  return plan.drivers.size() * plan.scenarios.size() * plan.seeds.size();
}

DriveTask drive_task(const DriveEvaluationPlan& plan, std::size_t number) {
  const std::size_t episode = number / plan.seeds.size();
  return {.driver = episode / plan.scenarios.size(),
          .scenario = episode % plan.scenarios.size(),
          .seed = number % plan.seeds.size()};
}

std::string describe(const DriveEvaluationPlan& plan, const DriveTask& task) {
  return fmt::format("driver {}, scenario {}, seed {}", plan.drivers[task.driver],
                     plan.scenarios[task.scenario], plan.seeds[task.seed]);
}

std::string run_drive_episode(const DriveEvaluationPlan& plan, const DriveTask& task,
                              const std::function<void(double share)>& progress) {
  torch::set_num_threads(1);  // several processes run at the same time and share the cores
  const auto driver = make_driver(plan.drivers[task.driver]);
  sim::DrivingOptions traffic = plan.traffic;
  traffic.scenario = plan.scenarios[task.scenario];
  sim::DrivingEnv env(traffic, plan.seeds[task.seed]);
  const bool is_recorded = !plan.replay_dir.empty() && task.scenario == 0 && task.seed == 0;
  DriveRecording recording;
  const bool is_corrected = driver != nullptr && !plan.corrections_dir.empty();
  constexpr int kFramesBetween = 2;
  Corrections corrections(plan.seeds[task.seed]);
  for (int frame = 0; !env.done(); ++frame) {
    std::vector<driving::Plan> plans;
    if (is_corrected) corrections.add(env, frame % kFramesBetween == 1);
    if (driver) plans = driver->plan(env.views());
    if (is_recorded) recording.add(env, plans);
    if (driver) {
      env.drive(plans);
    } else {
      env.drive_by_sumo();
    }
    progress(env.time_s() / traffic.duration_s);
  }
  if (is_recorded) {
    recording.add(env, {});
    save_recording(plan, task, recording, *env.map());
  }
  if (!corrections.empty()) corrections.save(corrections_file(plan, task), traffic.scenario);
  Json egos = Json::array();
  for (int ego = 0; ego < env.num_egos(); ++ego) {
    Json row{{"name", env.name_of(ego)}};
    for (const DriveField& field : drive_fields()) row[field.name] = field.get(env.measures(ego));
    egos.push_back(std::move(row));
  }
  return egos.dump();
}

std::vector<DrivenEgo> read_drive_episode(const DriveEvaluationPlan& plan, const DriveTask& task,
                                          const std::string& text) {
  std::vector<DrivenEgo> egos;
  for (const Json& row : Json::parse(text)) {
    DrivenEgo& ego = egos.emplace_back(DrivenEgo{.driver = task.driver,
                                                 .scenario = task.scenario,
                                                 .seed = plan.seeds[task.seed],
                                                 .name = row["name"]});
    for (const DriveField& field : drive_fields()) field.set(ego.measures, row[field.name]);
  }
  return egos;
}

void write_drive_replay(const DriveEvaluationPlan& plan) {
  Json replay{{"kind", "driving"},
              {"scenario", plan.scenarios.front()},
              {"seed", plan.seeds.front()},
              {"network", nullptr},
              {"recordings", Json::array()}};
  for (std::size_t driver = 0; driver < plan.drivers.size(); ++driver) {
    Json one = report::read_json_file(recording_file(plan, driver)).value();
    replay["network"] = std::move(one["network"]);
    one.erase("network");
    replay["recordings"].push_back(std::move(one));
  }
  write_file_atomically(plan.replay_dir / "replay.html", report::replay_page(replay));
  for (std::size_t driver = 0; driver < plan.drivers.size(); ++driver) {
    std::filesystem::remove(recording_file(plan, driver));
  }
}

}  // namespace traffic::train
