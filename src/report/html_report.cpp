// Writes report.html: the page with the results and curves of a run (html_report.h).
#include "traffic/report/html_report.h"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "curves.h"
#include "first_screen.h"
#include "pictures.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "traffic/report/run_reader.h"
#include "web_page.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

std::string note(const std::string& text) {
  return "<p class=\"note\">" + html_escaped(text) + "</p>\n";
}

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{:.5g}", value.get<double>());
  return html_escaped(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string table_of(const Json& object) {
  std::string html = "<table>";
  for (const auto& [name, value] : object.items()) {
    // Lists of objects are left out, because the page has separate tables for them.
    if ((value.is_structured() && value.empty()) || (value.is_array() && value.front().is_object()))
      continue;
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n", html_escaped(name),
                        value.is_object() ? table_of(value) : cell(value));
  }
  return html + "</table>\n";
}

/// A table with a column for each controller and a row for each metric.
std::string all_metrics_table(const Json& evaluation) {
  std::string html = fmt::format("<p>Scenario {}, {} seeds, means over episodes.</p><table>",
                                 cell(evaluation.value("scenario", Json())),
                                 evaluation.value("seeds", Json::array()).size());
  const Json& controllers = evaluation["controllers"];
  for (const auto& [metric, unused] : controllers.front().items()) {
    html += fmt::format("<tr><td>{}</td>", html_escaped(metric));
    for (const Json& controller : controllers) {
      html += "<td>" + cell(controller.value(metric, Json())) + "</td>";
    }
    html += "</tr>\n";
  }
  return html + "</table>\n";
}

/// A table with a row for each script that a search ran. The rows of the final comparison come
/// first.
std::string search_table(const Json& scenario) {
  const double piece_s = scenario.value("piece_s", 0.0);
  const std::string part =
      piece_s > 0.0
          ? fmt::format(" It compared {} pieces of {:.0f} of the {:.0f} s of an episode.",
                        scenario.value("pieces", 1), piece_s, scenario.value("episode_s", 0.0))
          : "";
  std::string html = fmt::format("<p>Scenario {}: the search chose {}.{}</p><table>",
                                 cell(scenario.value("scenario", Json())),
                                 cell(scenario.value("best", Json())), part);
  bool headed = false;
  for (const char* list : {"finalists", "tried"}) {
    for (const Json& script : scenario.value(list, Json::array())) {
      if (!headed) {
        html += "<tr><th></th>";
        for (const auto& [name, unused] : script.items()) {
          html += "<th>" + html_escaped(name) + "</th>";
        }
        html += "</tr>\n";
        headed = true;
      }
      html += fmt::format("<tr><td>{}</td>", list == std::string("tried") ? "" : "final");
      for (const auto& [name, value] : script.items()) html += "<td>" + cell(value) + "</td>";
      html += "</tr>\n";
    }
  }
  return html + "</table>\n";
}

/// The tables of search.json.
std::string searches(const RunReader& run) {
  const auto file = run.search();
  std::string html;
  if (!file) return html;
  for (const Json& search : file->value("searches", Json::array())) {
    for (const Json& scenario : search.value("scenarios", Json::array())) {
      html += search_table(scenario);
    }
  }
  return html;
}

std::string folded(const std::string& title, const std::string& html) {
  if (html.empty()) return "";
  return fmt::format("<details><summary>{}</summary><div class=\"wide\">{}</div></details>\n",
                     html_escaped(title), html);
}

std::string file_text(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// The HTML that `make` returns, or a note with the error if `make` throws because a file is
/// damaged.
template <typename Make>
std::string or_note(Make&& make) {
  try {
    return make();
  } catch (const Error& error) {
    return note(error.what());
  }
}

std::string damage_of(const Metrics& metrics) {
  if (metrics.damaged.empty()) return "";
  return note(fmt::format("{} lines of the metrics cannot be read; the first one: {}",
                          metrics.damaged.size(), metrics.damaged.front()));
}

/// The parts of the page on one training that the reader can unfold: all metrics of its evaluation,
/// its summary and its curves. The data of the curves are appended to `curves`.
std::string details(const std::string& name, const RunReader& part, Json& curves) {
  std::string html = or_note([&] {
    std::string tables;
    for (const Json& evaluation : evaluations_of(part)) tables += all_metrics_table(evaluation);
    return folded(name + ": all metrics of the evaluation", tables);
  });
  html += or_note([&] {
    const auto summary = part.summary();
    return folded(name + ": summary.json", summary ? table_of(*summary) : "");
  });
  const Metrics metrics = part.metrics();
  html += damage_of(metrics);
  Json groups = all_curves(metrics);
  for (auto& [group, charts] : groups.items()) {
    html += fmt::format(
        "<details data-curves=\"{}\"><summary>{}: {} ({})</summary><div "
        "class=\"curves\"></div></details>\n",
        curves.size(), html_escaped(name), html_escaped(group), charts.size());
    curves.push_back(std::move(charts));
  }
  return html;
}

}  // namespace

void write_html_report(const RunFolder& folder, bool has_ended) {
  const fs::path root = fs::absolute(folder.root()).lexically_normal();
  const RunReader run(root);
  std::vector<RunReader> parts = run.parts();
  const bool has_parts = !parts.empty();
  if (!has_parts) parts.push_back(run);

  std::string body = fmt::format(
      "<h1>{}</h1>\n<p class=\"path\">{}</p>\n",
      html_escaped(root.parent_path().filename().string() + "/" + root.filename().string()),
      html_escaped(root.string()));
  body += or_note([&] { return first_screen(run, parts, has_ended); });
  Json data{{"pictures", Json::array()}, {"curves", Json::array()}};
  std::string below;
  for (const RunReader& part : parts) {
    const std::string name = part.folder().root().filename().string();
    body += or_note([&] {
      for (Json& picture : pictures_of(part)) {
        if (has_parts) picture["part"] = name;
        // Path relative to the page, which lies in the run's folder.
        picture["folder"] = has_parts ? name + "/replay" : "replay";
        data["pictures"].push_back(std::move(picture));
      }
      return std::string();
    });
    below += details(name, part, data["curves"]);
  }
  body += "<section id=\"pictures\"></section>\n<h2>Everything else</h2>\n" + below;
  body += or_note([&] { return folded("scripts that the search tried", searches(run)); });
  body += or_note([&] {
    const auto summary = has_parts ? run.summary() : std::nullopt;
    return folded("summary.json", summary ? table_of(*summary) : "");
  });
  const std::string config = file_text(folder.config());
  body += folded("config.toml", "<pre>" + html_escaped(config) + "</pre>");
  const std::string environment = file_text(folder.environment());
  if (!environment.empty()) {
    body += folded("environment.json", "<pre>" + html_escaped(environment) + "</pre>");
  }
  write_file_atomically(
      folder.report(),
      web_page({.title = root.string(),
                .body = body,
                .data = data.dump(),
                .files = {"chart.min.js", "colours.js", "charts.js", "report.js"}}));
}

}  // namespace traffic::report
