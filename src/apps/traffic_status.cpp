/// The program traffic_status: shows the state of training runs, once or repeatedly.
#include <chrono>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "run_app.h"
#include "traffic/report/run_state.h"

namespace {

using namespace traffic;

struct Arguments {
  std::vector<std::string> runs;
  double watch_s = 0;
  bool prints_json = false;
  bool each_process = false;
};

/// Folder in which trainings create the folders of their runs if run.dir is not set.
constexpr const char* kRuns = "runs";
constexpr std::size_t kNumNewest = 3;

/// The folders that the command line names. If it names none, the folders of the newest runs.
std::vector<std::string> runs_to_show(const Arguments& arguments) {
  if (!arguments.runs.empty()) return arguments.runs;
  std::vector<std::string> runs;
  for (const auto& dir : report::newest_runs(kRuns, kNumNewest)) runs.push_back(dir.string());
  if (runs.empty()) {
    throw DataError("the folder {}/ contains no run; name the folder of a run", kRuns);
  }
  return runs;
}

std::string text_of(const Arguments& arguments) {
  std::string text;
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const std::string& dir : runs_to_show(arguments)) {
    const report::RunState state = report::state_of(report::RunReader(dir));
    if (arguments.prints_json) {
      all.push_back(report::state_json(state));
    } else {
      text += (text.empty() ? "" : "\n") + report::state_text(state, arguments.each_process);
    }
  }
  return arguments.prints_json ? all.dump(2) + "\n" : text;
}

int show(const Arguments& arguments) {
  while (true) {
    const std::string text = text_of(arguments);
    const bool goes_on = arguments.watch_s > 0;
    // Moves to the upper left corner and clears the screen.
    if (goes_on) std::fputs("\x1b[H\x1b[2J", stdout);
    std::fputs(text.c_str(), stdout);
    std::fflush(stdout);
    if (!goes_on) return 0;
    std::this_thread::sleep_for(std::chrono::duration<double>(arguments.watch_s));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "Shows the state of runs: phase, step, rates, time left, newest checkpoint, and the memory "
      "of ranks, workers and simulations.",
      "traffic_status"};
  app.add_option("run", arguments.runs,
                 "Folders of runs, such as runs/NAME/TIME; by default the newest runs in runs/")
      ->type_name("RUN...");
  app.add_option("--watch", arguments.watch_s, "Show the state again every S seconds")
      ->type_name("S")
      ->check(CLI::Range(0.1, 3600.0));
  app.add_flag("--processes", arguments.each_process, "Show a row for each process");
  app.add_flag("--json", arguments.prints_json, "Print the state as JSON");
  return run_app(app, argc, argv, [&] { return show(arguments); });
}
