/// Checks whether this machine has what a training needs. mpirun starts it on every rank, like a
/// training.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include "traffic/train/doctor/doctor.h"
#include "traffic/train/run/program.h"
#include "traffic/train/trainings.h"

namespace {

using namespace traffic;

/// Whether the configuration file or the command line may have set this key.
bool is_said(const train::Start& start, const char* key) {
  const auto& assignments = start.options.overrides.assignments;
  return !start.options.config_path.empty() ||
         std::ranges::any_of(assignments,
                             [&](const config::Assignment& one) { return one.key == key; });
}

/// Without a choice of training the program checks everything.
train::Needs needs_of(const train::Start& start) {
  const config::Config& config = start.plan.whole;
  if (!is_said(start, "run.phase")) {
    return {.data = !config.data.files.empty(), .simulations = true};
  }
  return train::needs_of(config);
}

}  // namespace

int main(int argc, char** argv) {
  bool prints_json = false;
  std::string scenario;
  const config::Program program{
      .name = "traffic_doctor",
      .description =
          "Checks what a training needs of this machine: ranks, devices, communication, "
          "simulations, folder. Start it like traffic_train, with the same "
          "configuration. With --scenario it examines only that scenario.",
      .add_options = [&](CLI::App& app) {
        app.add_flag("--json", prints_json, "Print the findings as JSON");
        app.add_option("--scenario", scenario,
                       "A .sumocfg or the name of a shipped scenario: its conflicts, demand, "
                       "connected vehicles, and what can be learned there")
            ->type_name("FILE");
      }};
  train::register_trainings(train::shipped_trainings());
  return train::run_rank_program(
      argc, argv, program, [&](const train::Start& start, comm::MpiSession& session) {
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
      });
}
