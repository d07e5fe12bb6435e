/// The program traffic_tune: searches for good settings of a training, at random or on a grid. It
/// trains with each setting (a trial) for a short time, and continues the better trials.
#include <fmt/format.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "run_app.h"
#include "traffic/core/signals.h"
#include "traffic/report/logging.h"
#include "traffic/tune/study.h"

namespace {

using namespace traffic;

struct Arguments {
  std::string table;
  std::string dir;
  tune::StudyOptions study;
  bool dry_run = false;
  bool prints_json = false;
};

int run(const Arguments& arguments) {
  tune::Table table = tune::read_table(arguments.table);
  if (!arguments.dir.empty()) table.dir = arguments.dir;
  report::init_logging({});
  install_stop_handlers();
  if (arguments.dry_run) {
    for (const tune::Trial& trial : tune::draw_trials(table)) {
      std::string line = fmt::format("trial {}:", trial.number);
      for (std::size_t i = 0; i < table.choices.size(); ++i) {
        line += fmt::format(" {}={}", table.choices[i].key, trial.values[i]);
      }
      std::puts(line.c_str());
    }
    return 0;
  }
  const auto trials = tune::run_study(table, arguments.study);
  const std::string text = arguments.prints_json ? tune::study_json(table, trials).dump(2) + "\n"
                                                 : tune::study_text(table, trials);
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "Searches for settings of a training: it trains the trials of a table "
      "(docs/guide/tuning.md) for a short time, and the better ones for longer. The same command "
      "continues a search that was stopped.",
      "traffic_tune"};
  app.add_option("table", arguments.table, "File that describes the search, in TOML")
      ->required()
      ->type_name("FILE");
  app.add_option("--dir", arguments.dir, "Folder for the runs of the trials")->type_name("DIR");
  app.add_option("--jobs", arguments.study.jobs,
                 "Number of trainings at the same time; by default one for each core")
      ->type_name("N")
      ->check(CLI::PositiveNumber);
  app.add_option("--trial", arguments.study.trial,
                 "Train only this trial, up to the first budget, as one job of a job array")
      ->type_name("N");
  app.add_flag("--dry-run", arguments.dry_run, "Print the trials and end");
  app.add_flag("--json", arguments.prints_json, "Print the result as JSON");
  return run_app(app, argc, argv, [&] { return run(arguments); });
}
