/// The program traffic_report: compares training runs, which may be finished or in progress.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "run_app.h"
#include "traffic/report/html_report.h"
#include "traffic/report/overview.h"
#include "traffic/report/run_reader.h"

namespace {

using namespace traffic;

struct Arguments {
  std::vector<std::string> runs;
  bool prints_json = false;
  bool draws = false;
  bool prints_metrics = false;
  bool writes_html = false;
};

int report_on(const Arguments& arguments) {
  std::vector<report::RunOverview> runs;
  for (const std::string& dir : arguments.runs) {
    const report::RunReader run(dir);
    runs.push_back(report::overview_of(run));
    if (arguments.writes_html) {
      report::write_html_report(run.folder());
      std::fprintf(stderr, "traffic_report: open %s in a browser\n", run.folder().report().c_str());
    }
  }
  std::string text;
  if (arguments.prints_json) {
    text = report::overview_json(runs).dump(2) + "\n";
  } else {
    text = report::overview_text(runs);
    if (arguments.prints_metrics) text += "\n" + report::metrics_text(runs);
    if (arguments.draws) text += "\n" + report::gain_chart_text(runs);
  }
  std::fputs(text.c_str(), stdout);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app{
      "Compares runs side by side: gains and safety, means over runs with their intervals, "
      "settings in which the runs differ, and failures of any rank.",
      "traffic_report"};
  app.add_option("run", arguments.runs, "Folders of runs, such as runs/NAME/TIME")
      ->required()
      ->type_name("RUN...");
  app.add_flag("--json", arguments.prints_json, "Print everything as JSON");
  app.add_flag("--terminal", arguments.draws, "Draw the learning curves as text");
  app.add_flag("--metrics", arguments.prints_metrics,
               "Print count, minimum, mean, maximum and last value of every metric");
  app.add_flag("--html", arguments.writes_html,
               "Write report.html of each run again, even if the run is still in progress");
  return run_app(app, argc, argv, [&] { return report_on(arguments); });
}
