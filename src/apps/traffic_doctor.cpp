/// The program traffic_doctor: checks whether this machine meets the needs of a training, or
/// whether a controller improves the traffic in a road network. Like a training, it is started by
/// mpirun with one process for each rank.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "traffic/core/exit.h"
#include "traffic/core/signals.h"
#include "traffic/train/doctor/doctor.h"
#include "traffic/train/run/program.h"
#include "traffic/train/trainings.h"

namespace {

using namespace traffic;

/// Whether the user may have set this key. The function treats a configuration file as if it set
/// every key.
bool is_said(const train::Start& start, const char* key) {
  const auto& assignments = start.options.overrides.assignments;
  return !start.options.config_path.empty() ||
         std::ranges::any_of(assignments,
                             [&](const config::Assignment& one) { return one.key == key; });
}

/// The parts of the machine that are checked. If the user has chosen no training, these are the
/// simulations and, if data.files is set, the recorded data.
train::Needs needs_of(const train::Start& start) {
  const config::Config& config = start.plan.whole;
  if (!is_said(start, "run.phase")) {
    return {.data = !config.data.files.empty(), .simulations = true};
  }
  return train::needs_of(config);
}

/// Tries the controllers on one rank. If the user asks the program to stop (Ctrl-C), the trial ends
/// and its findings so far are printed.
int try_controllers(const train::ControllersToTry& wish, const train::Start& start,
                    bool prints_json) {
  install_stop_handlers();
  const auto say = [](const std::string& line) {
    std::fprintf(stderr, "traffic_doctor: %s\n", line.c_str());
  };
  const train::ControllerTrial trial = train::try_controllers(wish, start.options, say);
  if (prints_json) {
    std::fputs(train::to_json(trial.findings).c_str(), stdout);
  } else {
    if (!trial.table.empty()) std::fputs((trial.table + "\n").c_str(), stdout);
    std::fputs(train::to_text(trial.findings).c_str(), stdout);
  }
  return static_cast<int>(train::exit_code(trial.findings));
}

}  // namespace

int main(int argc, char** argv) {
  bool prints_json = false;
  std::string scenario;
  train::ControllersToTry wish;
  const config::Program program{
      .name = "traffic_doctor",
      .description =
          "Checks whether this machine meets the needs of a training: ranks, devices, "
          "communication, simulations, folder. Start it like traffic_train, with the same "
          "configuration. With "
          "--scenario it examines only that scenario, and with --controller it also tries "
          "controllers there and recommends what to use.",
      .add_options = [&](CLI::App& app) {
        app.add_flag("--json", prints_json, "Print the findings as JSON");
        auto* of_scenario =
            app.add_option("--scenario", scenario,
                           "Examine this scenario, a .sumocfg or the name of a shipped one: its "
                           "conflicts, demand, connected vehicles, and the agents that can learn "
                           "there")
                ->type_name("FILE");
        auto* of_controller =
            app.add_option("--controller", wish.controllers,
                           "Compare this controller with no control on the same seeds and say "
                           "whether to use it: checkpoint:PATH or a script, as for traffic_eval; "
                           "repeatable")
                ->type_name("NAME")
                ->allow_extra_args(false)
                ->needs(of_scenario);
        app.add_option("--minutes", wish.minutes,
                       "Real time for the comparison of --controller, in minutes")
            ->check(CLI::Range(0.05, 10'000.0))
            ->capture_default_str()
            ->needs(of_controller);
      }};
  train::register_trainings(train::shipped_trainings());
  exit_without_destructors(train::run_rank_program(
      argc, argv, program,
      [&](const train::Start& start, comm::MpiSession& session) {
        std::vector<train::Finding> findings;
        if (scenario.empty()) {
          findings = train::examine(session, start.plan.whole, needs_of(start));
        } else if (session.rank() == 0) {
          config::Config config = start.plan.whole;
          config.env.scenario = scenario;
          config.env.scenarios.clear();
          findings = train::examine_network(
              config, is_said(start, "env.agents") ? train::Actors::kNamed : train::Actors::kAny);
        }
        const std::string text = prints_json ? train::to_json(findings) : train::to_text(findings);
        if (session.rank() == 0) std::fputs(text.c_str(), stdout);
        return static_cast<int>(train::exit_code(findings));
      },
      [&](const train::Start& start, bool is_first) -> std::optional<int> {
        if (wish.controllers.empty()) return std::nullopt;
        wish.scenario = scenario;
        return is_first ? try_controllers(wish, start, prints_json) : 0;
      }));
}
