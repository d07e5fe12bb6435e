/// The program traffic_eval: compares controllers with each other and with no control on the same
/// seeds. With --driver it compares drivers of single vehicles instead, and with --against teams of
/// the game 3v3 snakes.
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string>
#include <variant>
#include <vector>

#include "eval_arguments.h"
#include "eval_drivers.h"
#include "eval_snakes.h"
#include "look_at_network.h"
#include "run_app.h"
#include "traffic/config/command_line.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/core/exit.h"
#include "traffic/core/text.h"
#include "traffic/os/affinity.h"
#include "traffic/sim/scenario.h"
#include "traffic/train/evaluate/environment.h"
#include "traffic/train/evaluate/evaluation.h"
#include "traffic/train/trainings.h"

namespace {

using namespace traffic;
using apps::EvalArguments;

void say(const std::string& line) {
  std::fputs(fmt::format("traffic_eval: {}\n", line).c_str(), stderr);
}

train::EvaluationPlan make_plan(const EvalArguments& arguments,
                                const config::CommonOptions& options) {
  train::EvaluationPlan plan;
  plan.config = train::evaluation_config(
      {.controllers = arguments.controllers, .scenarios = arguments.scenarios}, options, say);
  plan.controllers = arguments.controllers;
  if (plan.controllers.empty()) plan.controllers = {"none", "meter"};
  train::check_controllers(plan.controllers);
  plan.seeds = train::parse_seeds(arguments.seeds);
  plan.jobs = arguments.jobs > 0 ? arguments.jobs : os::num_cpus_available();
  plan.demand_scale = arguments.demand_scale;
  plan.emissions = arguments.emissions;
  plan.replay_dir = arguments.replay;
  return plan;
}

/// One plan for each scenario of the command line. If it names none, one plan for each scenario of
/// the configuration.
std::vector<train::EvaluationPlan> plans_of_scenarios(const train::EvaluationPlan& plan,
                                                      const EvalArguments& arguments,
                                                      const config::CommonOptions& options) {
  std::vector<std::string> scenarios = arguments.scenarios;
  if (scenarios.empty()) {
    for (const auto& part : config::scenario_mix(plan.config.env)) {
      scenarios.push_back(part.scenario);
    }
  }
  std::vector<train::EvaluationPlan> plans;
  for (const std::string& scenario : scenarios) {
    const std::filesystem::path file = sim::find_scenario(scenario);
    plans.push_back(plan);
    if (scenarios.size() > 1 && !plan.replay_dir.empty()) {
      plans.back().replay_dir = plan.replay_dir / file.stem();
    }
    plans.back().config.env = train::env_in_scenario(plan.config.env, scenario, options, say);
  }
  return plans;
}

/// Prints the progress of an evaluation after 5 s, and then in growing intervals.
class Progress {
 public:
  void operator()(const train::EvaluationProgress& progress) {
    const double now_s = clock_.seconds();
    if (now_s < next_s_) return;
    constexpr double kLongest_s = 60.0;
    next_s_ = now_s + std::min(now_s, kLongest_s);
    std::string line = fmt::format("{} of {} episodes, {:.0f} %", progress.done, progress.total,
                                   100 * progress.share);
    if (progress.share > 0.0) {
      line += fmt::format(", {} left", human_duration(now_s * (1.0 / progress.share - 1.0)));
    }
    say(line);
  }

 private:
  Stopwatch clock_;
  double next_s_ = 5.0;
};

void print_tables(const train::EvaluationPlan& plan,
                  const std::vector<train::EvaluatedEpisode>& episodes, bool shows_all) {
  const report::Table comparison =
      shows_all ? train::comparison_table(plan, episodes) : train::overview_table(plan, episodes);
  std::fputs(comparison.to_text().c_str(), stdout);
  std::fputs(train::verdict_text(plan, episodes).c_str(), stdout);
  const report::Table differences = train::difference_table(plan, episodes);
  if (differences.num_rows() > 0) std::fputs(("\n" + differences.to_text()).c_str(), stdout);
}

int evaluate(const EvalArguments& arguments, const config::CommonOptions& options) {
  auto plans = plans_of_scenarios(make_plan(arguments, options), arguments, options);
  if (options.print_config) {
    std::fputs(config::to_toml(plans.front().config).c_str(), stdout);
    return 0;
  }
  for (train::EvaluationPlan& plan : plans) {
    // Checks all scenarios before the first episode of any scenario.
    apps::look_at_network(plan.config, plan.controllers, say);
  }
  std::vector<std::string> jsons;
  std::string csv;
  for (const train::EvaluationPlan& plan : plans) {
    const auto episodes = train::run_evaluation(plan, Progress());
    jsons.push_back(train::evaluation_json(plan, episodes));
    if (!plan.replay_dir.empty())
      say("open " + (plan.replay_dir / "replay.html").string() + " in a browser");
    csv += train::episodes_csv(plan, episodes, csv.empty());
    if (arguments.prints_json) continue;
    if (plans.size() > 1) {
      std::fputs(
          fmt::format("{}{}\n\n", jsons.size() > 1 ? "\n" : "", plan.config.env.scenario).c_str(),
          stdout);
    }
    print_tables(plan, episodes, arguments.shows_all);
    std::fflush(stdout);
  }
  const std::string json = train::join_evaluations(jsons);
  if (!arguments.json_path.empty()) write_file_atomically(arguments.json_path, json);
  if (!arguments.csv.empty()) write_file_atomically(arguments.csv, csv);
  if (arguments.prints_json) std::fputs(json.c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  exit_without_destructors(run_guarded("traffic_eval", [&] {
    train::register_trainings(train::shipped_trainings());
    apps::EvalArguments arguments;
    const auto parsed = config::parse_command_line(argc, argv, apps::eval_program(arguments));
    if (const auto* exit = std::get_if<config::ExitRequest>(&parsed)) {
      std::fputs(exit->text.c_str(), stdout);
      return 0;
    }
    if (!arguments.against.empty()) return apps::play_snakes(arguments);
    const auto& options = std::get<config::CommonOptions>(parsed);
    if (!arguments.drivers.empty()) return apps::compare_drivers(arguments, options, Progress());
    return evaluate(arguments, options);
  }));
}
