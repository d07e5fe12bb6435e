#include "first_screen.h"

#include <fmt/format.h>

#include <array>
#include <utility>

#include "pictures.h"
#include "traffic/core/text.h"
#include "traffic/report/replay_page.h"
#include "web_page.h"

namespace traffic::report {
namespace {

using Json = nlohmann::ordered_json;

/// A short answer: a word on it, the figure, and a line that says what it means.
std::string card(std::string_view what, std::string_view tone, const std::string& figure,
                 const std::string& meaning) {
  return fmt::format("<div class=\"card {}\"><span>{}</span><strong>{}</strong><p>{}</p></div>\n",
                     tone, what, html_escaped(figure), html_escaped(meaning));
}

double number(const Json& row, const char* name) {
  return row.contains(name) && row[name].is_number() ? row[name].get<double>() : 0.0;
}

bool has_gain(const Json& row) { return row.contains("gain_%") && row["gain_%"].is_number(); }

std::string gain_text(const Json& row) {
  const bool has_interval = row.contains("+-95%") && row["+-95%"].is_number();
  return has_interval
             ? fmt::format("{:+.2f} ± {:.2f} %", number(row, "gain_%"), number(row, "+-95%"))
             : fmt::format("{:+.2f} %", number(row, "gain_%"));
}

/// The row of what was trained: the last checkpoint.
const Json* trained_of(const Json& evaluation) {
  const Json* trained = nullptr;
  for (const Json& row : evaluation["controllers"]) {
    if (row.value("controller", "").starts_with("checkpoint:")) trained = &row;
  }
  return trained;
}

const Json* none_of(const Json& evaluation) {
  for (const Json& row : evaluation["controllers"]) {
    if (row.value("controller", "") == "none") return &row;
  }
  return nullptr;
}

std::string gain_card(const Json& evaluation, const Json& row) {
  const double gain = number(row, "gain_%");
  const double width = number(row, "+-95%");
  const std::size_t seeds = evaluation.value("seeds", Json::array()).size();
  std::string meaning = fmt::format("traffic that gets through, on {} seeds of {}", seeds,
                                    evaluation.value("scenario", ""));
  for (const Json& other : evaluation["controllers"]) {
    const std::string name = other.value("controller", "");
    if (!has_gain(other) || name.starts_with("checkpoint:")) continue;
    meaning += fmt::format("; {}: {}", name, gain_text(other));
  }
  if (width > 0 && gain - width > 0) {
    return card("Better than no control", "good", gain_text(row), meaning);
  }
  if (width > 0 && gain + width < 0) {
    return card("Worse than no control", "bad", gain_text(row), meaning);
  }
  return card("No clear gain", "", gain_text(row),
              meaning + (seeds < 20 ? "; more seeds narrow the interval" : ""));
}

/// Beside the same traffic without control: events that must not be more (beyond their interval,
/// where the evaluation has judged that), then those that hint at them.
std::string safety_card(const Json& row, const Json* none) {
  using Event = std::pair<const char*, const char*>;
  constexpr std::array<Event, 3> kHarm{Event{"collisions", "collisions"},
                                       {"emergency_stops", "emergency stops"},
                                       {"teleports", "teleports"}};
  constexpr std::array<Event, 2> kHints{Event{"hard_brakes", "hard brakes"},
                                        {"unsafe_steps", "unsafe vehicle-seconds"}};
  const auto digits = [](double value) {
    return value >= 100 ? fmt::format("{:.0f}", value) : fmt::format("{:.3g}", value);
  };
  const auto beside = [&](const Event& event) {
    const std::string figure = digits(number(row, event.first)) + " " + event.second;
    return none ? fmt::format("{} ({} without control)", figure, digits(number(*none, event.first)))
                : figure;
  };
  std::string worse;
  std::string all;
  for (const Event& event : kHarm) {
    if (number(row, event.first) > (none ? number(*none, event.first) : 0.0)) {
      worse += (worse.empty() ? "" : ", ") + beside(event);
    }
    if (number(row, event.first) > 0) all += beside(event) + ", ";
  }
  if (!worse.empty() && row.value("safe", false)) {
    return card("Safety", "warn", "Look closer",
                "an episode: " + worse + "; within the interval over these seeds");
  }
  if (!worse.empty()) return card("Safety", "bad", "Less safe", "an episode: " + worse);
  constexpr double kNoticeable = 1.1;
  for (const Event& event : kHints) {
    if (none && number(row, event.first) > kNoticeable * number(*none, event.first)) {
      worse += (worse.empty() ? "" : ", ") + beside(event);
    }
    all += beside(event) + (event == kHints.back() ? "" : ", ");
  }
  if (!worse.empty()) return card("Safety", "warn", "Look closer", "an episode: " + worse);
  const std::string begin = number(row, "collisions") > 0 ? "" : "no collision; ";
  return card("Safety", "good", none ? "No worse than without" : "No harm seen",
              begin + "an episode: " + all);
}

/// The figures that people compare controllers by; the rest is folded away.
std::string controllers_table(const Json& evaluation) {
  using Column = std::pair<const char*, const char*>;
  constexpr std::array<Column, 9> kColumns{
      Column{"worst_%", "worst seed, %"},     {"delay_s", "delay, s"},
      {"outflow_vph", "outflow, veh/h"},      {"mean_speed_mps", "speed, m/s"},
      {"waiting", "waiting to enter"},        {"collisions", "collisions"},
      {"emergency_stops", "emergency stops"}, {"hard_brakes", "hard brakes"},
      {"cv_steps", "vehicle-s controlled"}};
  std::string html = fmt::format(
      "<div class=\"wide\"><table><caption>Scenario {}, {} seeds, means over "
      "episodes</caption><tr><th>controller</th><th>gain, %</th>",
      html_escaped(evaluation.value("scenario", "")),
      evaluation.value("seeds", Json::array()).size());
  for (const auto& [name, title] : kColumns) html += fmt::format("<th>{}</th>", title);
  html += "</tr>\n";
  for (const Json& row : evaluation["controllers"]) {
    const std::string name = row.value("controller", "");
    html += fmt::format("<tr{}><td>{}</td><td>{}</td>",
                        name.starts_with("checkpoint:") ? " class=\"ours\"" : "",
                        html_escaped(controller_label(name)), has_gain(row) ? gain_text(row) : "");
    for (const auto& [figure, title] : kColumns) {
      const bool known = row.contains(figure) && row[figure].is_number();
      html += known ? fmt::format("<td>{:.4g}</td>", row[figure].get<double>()) : "<td></td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

/// After imitation: which of script, imitation and PPO seeds of their own show best.
std::string kept_card(const Json& result) {
  const std::string kept = result.value("kept", "");
  if (kept.empty()) return "";
  const bool is_script = kept.starts_with("script ");
  return card(
      "Kept", is_script ? "warn" : "good", kept,
      fmt::format(
          "on seeds that nothing was chosen on, {} gains {:+.2f} %, the best policy {:+.2f} ± "
          "{:.2f} points more; use {}",
          result.value("script", ""), number(result, "script_gain"),
          number(result, "gain_over_script"), number(result, "gain_over_script_half_width"),
          result.value("controller", "")));
}

/// Of a training that no traffic was controlled by: the error of its predictions.
std::string prediction_card(const Json& result) {
  for (int frame = 30; frame > 0; --frame) {
    const std::string ours = fmt::format("position_rmse_m_frame{}", frame);
    if (!result.contains(ours) || !result[ours].is_number()) continue;
    const double error = result[ours];
    const double simple = number(result, ("constant_velocity_" + ours).c_str());
    const bool is_better = simple > 0 && error < simple;
    return card("Prediction", is_better ? "good" : "", fmt::format("{:.2f} m off", error),
                fmt::format("{} frames ahead; constant velocity: {:.2f} m", frame, simple));
  }
  return "";
}

std::string status_card(RunStatus status, const Json& summary) {
  const std::string message = summary.value("message", "");
  if (!summary.contains("seconds")) return card("Status", "", std::string(to_string(status)), "");
  const bool is_done = status == RunStatus::kDone;
  const int ranks = summary.value("world_size", 1);
  std::string meaning = fmt::format("of training on {} {}, start and evaluations not counted",
                                    ranks, ranks == 1 ? "rank" : "ranks");
  using Rate = std::pair<const char*, const char*>;
  for (const auto& [rate, unit] :
       {Rate{"samples_per_s", "samples/s"}, {"env_steps_per_s", "simulation steps/s"}}) {
    if (number(summary, rate) > 0) {
      meaning += fmt::format(", {:.0f} {}", number(summary, rate), unit);
    }
  }
  if (!message.empty()) meaning += "; " + message;
  return card(is_done ? "Took" : to_string(status), is_done ? "" : "warn",
              human_duration(number(summary, "seconds")), meaning);
}

std::string trained_card(const std::vector<RunReader>& parts) {
  std::string names;
  for (const RunReader& part : parts) {
    const auto summary = part.summary();
    std::string name = summary ? summary->value("training", "") : "";
    if (name.empty()) name = part.folder().root().filename().string();
    names += (names.empty() ? "" : ", ") + name;
  }
  return card("Trained", "", names,
              parts.size() > 1 ? "one after the other, each from the best of the one before"
                               : "settings and figures: below");
}

}  // namespace

std::string first_screen(const RunReader& run, const std::vector<RunReader>& parts,
                         bool has_ended) {
  const Json summary = run.summary().value_or(Json::object());
  std::string cards = trained_card(parts);
  std::string tables;
  for (auto part = parts.rbegin(); part != parts.rend() && tables.empty(); ++part) {
    for (const Json& evaluation : evaluations_of(*part)) {
      if (const Json* trained = trained_of(evaluation)) {
        if (has_gain(*trained)) cards += gain_card(evaluation, *trained);
        cards += safety_card(*trained, none_of(evaluation));
      }
      tables += controllers_table(evaluation);
    }
  }
  for (const RunReader& part : parts) {
    if (const auto of_part = part.summary()) {
      cards += kept_card(of_part->value("result", Json::object()));
    }
  }
  if (tables.empty() && !parts.empty()) {
    const auto part = parts.front().summary();
    if (part) cards += prediction_card(part->value("result", Json::object()));
  }
  return "<section class=\"cards\">\n" + cards +
         status_card(has_ended ? run.written_status() : run.status(), summary) + "</section>\n" +
         tables;
}

}  // namespace traffic::report
