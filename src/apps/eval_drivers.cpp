// The option --driver of traffic_eval: compares drivers of single vehicles.
#include "eval_drivers.h"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <vector>

#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/os/affinity.h"
#include "traffic/train/closed_loop/drive_evaluation.h"

namespace traffic::apps {
namespace {

train::DriveEvaluationPlan make_plan(const EvalArguments& arguments, const config::Config& config) {
  if (!arguments.controllers.empty()) {
    throw ConfigError("--driver compares drivers of single vehicles: leave --controller out");
  }
  train::DriveEvaluationPlan plan;
  plan.drivers = train::drivers_to_compare(arguments.drivers);
  plan.scenarios = arguments.scenarios;
  if (plan.scenarios.empty()) plan.scenarios = {config.env.scenario};
  plan.seeds = train::parse_seeds(arguments.seeds);
  plan.traffic = {.sumo_args = config.env.sumo_args,
                  .demand_factor = arguments.demand_scale,
                  .warm_up_s = arguments.warm_up_s,
                  .duration_s = arguments.duration_s,
                  .egos = arguments.egos};
  plan.jobs = arguments.jobs > 0 ? arguments.jobs : os::num_cpus_available();
  plan.silence_s = config.rollout.env_timeout_s;
  plan.replay_dir = arguments.replay;
  plan.corrections_dir = arguments.corrections;
  return plan;
}

}  // namespace

int compare_drivers(const EvalArguments& arguments, const config::CommonOptions& options,
                    const std::function<void(const train::EvaluationProgress&)>& progress) {
  config::Config config = config::resolve(options);
  if (!arguments.scenarios.empty()) config.env.scenario = arguments.scenarios.front();
  const train::DriveEvaluationPlan plan = make_plan(arguments, config);
  if (options.print_config) {
    std::fputs(config::to_toml(config).c_str(), stdout);
    return 0;
  }
  const std::vector<train::DrivenEgo> egos = train::run_drive_evaluation(plan, progress);
  const std::string json = train::drive_json(plan, egos);
  if (!arguments.json_path.empty()) write_file_atomically(arguments.json_path, json);
  if (!arguments.csv.empty()) {
    write_file_atomically(arguments.csv, train::drive_csv(plan, egos));
  }
  if (!plan.replay_dir.empty()) {
    fmt::print(stderr, "traffic_eval: open {} in a browser\n",
               (plan.replay_dir / "replay.html").string());
  }
  if (arguments.prints_json) {
    std::fputs(json.c_str(), stdout);
    return 0;
  }
  std::fputs(train::drive_table(plan, egos).to_text().c_str(), stdout);
  std::fputs(("\n" + train::drive_differences(plan, egos).to_text()).c_str(), stdout);
  return 0;
}

}  // namespace traffic::apps
