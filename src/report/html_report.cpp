#include "traffic/report/html_report.h"

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <utility>

#include "html_chart.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "traffic/report/run_reader.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kStyle = R"(
body{font:14px/1.45 system-ui,sans-serif;max-width:1240px;margin:2em auto;padding:0 1em;color:#222;background:#fff}
table{border-collapse:collapse;margin:.6em 0}td,th{padding:.15em .7em;border-bottom:1px solid #ddd;text-align:right}
td:first-child,th:first-child{text-align:left}figure{display:inline-block;width:380px;margin:0 14px 14px 0;
vertical-align:top}figcaption{font-weight:600}figure p{margin:0;font-size:12px}svg{width:380px;height:190px}
svg text{font-size:10px;fill:#666}polyline{fill:none;stroke-width:1.5}.grid{stroke:#e4e4e4}
@media(prefers-color-scheme:dark){body{color:#ddd;background:#181818}td,th{border-color:#444}.grid{stroke:#383838}
svg text{fill:#aaa}}
)";

std::string cell(const Json& value) {
  if (value.is_null()) return "";
  if (value.is_number_float()) return fmt::format("{:.5g}", value.get<double>());
  return html_escaped(value.is_string() ? value.get<std::string>() : value.dump());
}

std::string table_of(const Json& object) {
  std::string html = "<table>";
  for (const auto& [name, value] : object.items()) {
    // Lists of objects are shown as tables of their own.
    if ((value.is_structured() && value.empty()) || (value.is_array() && value.front().is_object()))
      continue;
    html += fmt::format("<tr><td>{}</td><td>{}</td></tr>", html_escaped(name),
                        value.is_object() ? table_of(value) : cell(value));
  }
  return html + "</table>\n";
}

/// Controllers side by side: a column each, a row for every figure.
std::string evaluation_table(const Json& one) {
  const Json controllers = one.is_object() ? one.value("controllers", Json()) : Json();
  if (!controllers.is_array() || controllers.empty() || !controllers.front().is_object()) return "";
  std::string html =
      fmt::format("<p>Scenario {}, {} seeds, means over episodes.</p><table>",
                  cell(one.value("scenario", Json())), one.value("seeds", Json::array()).size());
  for (const auto& [figure, unused] : controllers.front().items()) {
    html += fmt::format("<tr><td>{}</td>", html_escaped(figure));
    for (const Json& controller : controllers) {
      html += "<td>" + cell(controller.value(figure, Json())) + "</td>";
    }
    html += "</tr>";
  }
  return html + "</table>\n";
}

/// Of one scenario, or of several.
std::string evaluation(const Json& json) {
  std::string html;
  for (const Json& one : json.value("scenarios", Json::array({json})))
    html += evaluation_table(one);
  return html.empty() ? "" : "<h3>Beside other controllers</h3>\n" + html;
}

/// Lines of one chart by label.
using Lines = std::map<std::string, ChartLine>;

/// Which chart a figure belongs to, and its label there: figures of several frames ahead, shares of
/// time, and the cost with its limit are shown together.
std::pair<std::string, std::string> place_of(const std::string& name) {
  static const std::regex kFrame("(.*)_frame([0-9]+)");
  std::smatch match;
  if (std::regex_match(name, match, kFrame)) return {match[1], "frame " + match[2].str()};
  if (name.starts_with("time_share/")) return {"time_share", name.substr(11)};
  if (name == "Metrics/CostLimit") return {"Metrics/EpCost", "limit"};
  return {name, name};
}

std::map<std::string, Lines> charts_of(const Metrics& metrics) {
  std::map<std::string, Lines> charts;
  for (const MetricsRow& row : metrics.rows) {
    for (const auto& [name, value] : row.values) {
      const auto [chart, label] = place_of(name);
      ChartLine& line = charts[chart][label];
      line.label = label;
      line.points.push_back({.x = static_cast<double>(row.step), .y = value});
    }
  }
  return charts;
}

std::string note(const std::string& text) { return "<p>" + html_escaped(text) + "</p>\n"; }

std::string curves(const Metrics& metrics) {
  std::string html;
  if (!metrics.damaged.empty()) {
    html += note(fmt::format("{} lines cannot be read, the first is {}", metrics.damaged.size(),
                             metrics.damaged.front()));
  }
  std::string group;
  for (const auto& [name, lines] : charts_of(metrics)) {
    const std::string own_group = name.substr(0, name.find('/'));
    if (own_group != group) html += fmt::format("<h3>{}</h3>\n", html_escaped(own_group));
    group = own_group;
    std::vector<ChartLine> in_order;
    for (const auto& [label, line] : lines) in_order.push_back(line);
    html += html_chart(name, in_order);
  }
  return html;
}

/// What of a run can be read, and what is wrong with the rest.
std::string section(const RunReader& run) {
  std::string html;
  try {
    if (const auto summary = run.summary()) html += table_of(*summary);
  } catch (const DataError& error) {
    html += note(error.what());
  }
  try {
    if (const auto json = run.evaluation()) html += evaluation(*json);
  } catch (const DataError& error) {
    html += note(error.what());
  }
  return html + curves(run.metrics());
}

}  // namespace

void write_html_report(const RunFolder& folder) {
  const std::string title = html_escaped(fs::absolute(folder.root()).lexically_normal().string());
  std::string html = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta "
      "charset=\"utf-8\"><title>{}</title><style>{}</style></head>"
      "<body>\n<h1>{}</h1>\n",
      title, kStyle, title);
  const RunReader run(folder.root());
  html += section(run);
  for (const RunReader& part : run.parts()) {
    const std::string name = part.folder().root().filename().string();
    html += fmt::format("<h2>{}</h2>\n", html_escaped(name)) + section(part);
  }
  write_file_atomically(folder.report(), html + "</body></html>\n");
}

}  // namespace traffic::report
