// Makes the top of a report: the result in a sentence, cards, and a table of controllers.
#include "first_screen.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>
#include <vector>

#include "outcome.h"
#include "pictures.h"
#include "traffic/core/text.h"
#include "traffic/report/replay_page.h"
#include "web_page.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// A card: a box with a subject, an answer (a number or a few words), and a line that explains the
/// answer.
/// @param tone CSS class that colours the card: "good", "warn", "bad" or empty
std::string card(std::string_view about, std::string_view tone, const std::string& answer,
                 const std::string& meaning) {
  return fmt::format("<div class=\"card {}\"><span>{}</span><strong>{}</strong><p>{}</p></div>\n",
                     tone, html_escaped(about), html_escaped(answer), html_escaped(meaning));
}

std::string gain_card(const Json& evaluation, const Json& row) {
  const std::string cost = compared_cost(evaluation);
  const std::string sum = weighted_scores(evaluation);
  const std::string what = !cost.empty()  ? "less " + cost
                           : !sum.empty() ? "improvement of " + sum
                                          : "traffic that gets through";
  std::string meaning = fmt::format("{}, on {}", what, seeds_text(evaluation));
  for (const Json& other : evaluation["controllers"]) {
    const std::string name = other.value("controller", "");
    if (!has_gain(other) || is_checkpoint(name)) continue;
    meaning += fmt::format("; {}: {}", name, gain_text(other));
  }
  const int sign = sign_of_gain(row);
  if (sign > 0) return card("Better than no control", "good", gain_text(row), meaning);
  if (sign < 0) return card("Worse than no control", "bad", gain_text(row), meaning);
  const bool few_seeds = evaluation.value("seeds", Json::array()).size() < 20;
  return card("No clear gain", "", gain_text(row),
              meaning + (few_seeds ? "; more seeds narrow the interval" : ""));
}

/// A table of all controllers of an evaluation with the most important metrics. A folded part of
/// the report, further below, lists all metrics.
std::string controllers_table(const Json& evaluation) {
  using Column = std::pair<const char*, const char*>;
  constexpr std::array<Column, 11> kColumns{Column{"worst_%", "worst seed, %"},
                                            {"delay_s", "delay, s"},
                                            {"co2_g_per_km", "CO2, g/km"},
                                            {"electricity_wh_per_km", "electricity, Wh/km"},
                                            {"outflow_vph", "outflow, veh/h"},
                                            {"mean_speed_mps", "speed, m/s"},
                                            {"waiting", "waiting to enter"},
                                            {"collisions", "collisions"},
                                            {"emergency_stops", "emergency stops"},
                                            {"hard_brakes", "hard brakes"},
                                            {"cv_steps", "vehicle-steps under control"}};
  std::string html = fmt::format(
      "<div class=\"wide\"><table><caption>Means over the episodes of {}</caption>"
      "<tr><th>controller</th><th>gain, %</th>",
      html_escaped(seeds_text(evaluation)));
  // Evaluations without emissions have no columns for them.
  std::vector<Column> columns;
  std::ranges::copy_if(kColumns, std::back_inserter(columns), [&](const Column& column) {
    return std::ranges::any_of(evaluation["controllers"],
                               [&](const Json& row) { return row.contains(column.first); });
  });
  for (const auto& [name, title] : columns) html += fmt::format("<th>{}</th>", title);
  html += "</tr>\n";
  for (const Json& row : evaluation["controllers"]) {
    const std::string name = row.value("controller", "");
    html +=
        fmt::format("<tr{}><td>{}</td><td>{}</td>", is_checkpoint(name) ? " class=\"ours\"" : "",
                    html_escaped(controller_label(name)), has_gain(row) ? gain_text(row) : "");
    for (const auto& [metric, title] : columns) {
      const bool known = row.contains(metric) && row[metric].is_number();
      html += known ? fmt::format("<td>{:.4g}</td>", row[metric].get<double>()) : "<td></td>";
    }
    html += "</tr>\n";
  }
  return html + "</table></div>\n";
}

std::string script_card(const Json& comparison) {
  if (comparison.empty()) return "";
  const double over = number(comparison, "gain_over_script");
  const double width = number(comparison, "gain_over_script_half_width");
  const bool is_better = width > 0 && over > width;
  return card(
      "Compared with " + comparison.value("script", ""),
      keeps_script(comparison) ? "warn" : (is_better ? "good" : ""),
      fmt::format("{:+.2f} ± {:.2f} points", over, width),
      fmt::format("gain of the best policy minus the gain of the script ({:+.2f} %), on seeds that "
                  "were not used to choose anything",
                  number(comparison, "script_gain")));
}

std::string prediction_card(const Prediction& prediction) {
  if (prediction.frames == 0) return "";
  return card(
      "Prediction", prediction.is_better() ? "good" : "",
      fmt::format("{:.2f} m off", prediction.error_m),
      fmt::format(
          "position error {} frames ahead; {:.2f} m if vehicles are assumed to keep their velocity",
          prediction.frames, prediction.constant_velocity_m));
}

/// A training's name for readers who do not know the configuration.
std::string title_of(const std::string& training) {
  using Title = std::pair<std::string_view, std::string_view>;
  constexpr std::array<Title, 5> kTitles{Title{"world_model", "world model"},
                                         {"ppo", "reinforcement learning"},
                                         {"ppo_constrained", "safe reinforcement learning"},
                                         {"dqn", "Q-learning"},
                                         {"snakes", "3v3 snakes"}};
  const auto* const known = std::ranges::find(kTitles, training, &Title::first);
  if (known != kTitles.end()) return std::string(known->second);
  std::string title = training;
  std::ranges::replace(title, '_', ' ');
  return title;
}

/// The names of a run's trainings in their order, e.g. "world model, then reinforcement learning".
std::string titles_of(const std::vector<RunReader>& parts) {
  std::string titles;
  for (const RunReader& part : parts) {
    const auto summary = part.summary();
    std::string name = summary ? summary->value("training", "") : "";
    if (name.empty()) name = part.folder().root().filename().string();
    titles += (titles.empty() ? "" : ", then ") + title_of(name);
  }
  return titles;
}

std::string training_card(const std::vector<RunReader>& parts, RunStatus status,
                          const Json& summary) {
  const std::string titles = titles_of(parts);
  if (!summary.contains("seconds")) {
    return card("Status", "", std::string(to_string(status)), titles);
  }
  const bool is_done = status == RunStatus::kDone;
  const int ranks = summary.value("world_size", 1);
  std::string meaning = fmt::format("{}; on {} {}; time without start-up and evaluations", titles,
                                    ranks, ranks == 1 ? "rank" : "ranks");
  using Rate = std::pair<const char*, const char*>;
  for (const auto& [rate, unit] :
       {Rate{"samples_per_s", "samples/s"}, {"env_steps_per_s", "simulation steps/s"}}) {
    if (number(summary, rate) > 0) {
      meaning += fmt::format(", {:.0f} {}", number(summary, rate), unit);
    }
  }
  return card(is_done ? "Trained in" : to_string(status), is_done ? "" : "warn",
              human_duration(number(summary, "seconds")), meaning);
}

std::string code(const std::string& text) { return "<code>" + html_escaped(text) + "</code>"; }

/// The path for display: relative to the run's folder `root` if it lies inside.
std::string shown_path(const fs::path& path, const fs::path& root) {
  const fs::path inside = path.lexically_relative(root);
  return (inside.empty() || inside.native().starts_with("..") ? path : inside).string();
}

/// The file with the result of a training: the checkpoint whose name is neither best.h5 nor
/// step-....h5, such as phase1.h5. If there is none, best.h5. Empty if there is no best.h5 either.
std::string result_file(const RunReader& part, const fs::path& root) {
  std::vector<fs::path> results;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(part.folder().checkpoints(), error)) {
    const std::string stem = entry.path().stem().string();
    if (entry.path().extension() != ".h5" || stem.starts_with("step-")) continue;
    if (stem != "best") return shown_path(entry.path(), root);
    results.push_back(entry.path());
  }
  return results.empty() ? "" : shown_path(results.front(), root);
}

/// The gain in words, e.g. "gets 4.25 ± 1.25 % more traffic through than no control".
std::string effect_text(const Json& evaluation, const Json& row) {
  const int sign = sign_of_gain(row);
  if (sign == 0) return fmt::format("makes no clear difference ({})", gain_text(row));
  const std::string size =
      fmt::format("{:.2f} ± {:.2f} %", std::abs(number(row, "gain_%")), number(row, "+-95%"));
  if (const std::string cost = compared_cost(evaluation); !cost.empty()) {
    return fmt::format("has {} {} {} than no control", size, sign > 0 ? "less" : "more", cost);
  }
  if (const std::string sum = weighted_scores(evaluation); !sum.empty()) {
    return fmt::format("{} {} by {} relative to no control", sign > 0 ? "improves" : "worsens", sum,
                       size);
  }
  return fmt::format("gets {} {} traffic through than no control", size,
                     sign > 0 ? "more" : "less");
}

/// The result of an evaluated training, and the controller to use.
std::string evaluated_text(const Json& evaluation, const Json& row, const Json& comparison,
                           const fs::path& root) {
  if (keeps_script(comparison)) {
    const std::string script = comparison.value("controller", "");
    return fmt::format(
        "The script {} does better than the controller that was learned from it: use {} in place "
        "of the checkpoint.",
        code(script), code("--controller " + script));
  }
  const std::string controller = row.value("controller", "").substr(kCheckpoint.size());
  const std::string file = code(shown_path(controller, root));
  const std::string safety(safety_of(row, none_of(evaluation)).tone);
  const std::string effect =
      fmt::format("The learned controller {} on {}", effect_text(evaluation, row),
                  html_escaped(seeds_text(evaluation)));
  if (safety == "bad")
    return fmt::format("{}, but is less safe: do not use {} as it is.", effect, file);
  if (sign_of_gain(row) < 0) return fmt::format("{}: do not use {}.", effect, file);
  if (sign_of_gain(row) == 0) return fmt::format("{}. Its checkpoint is {}.", effect, file);
  if (safety == "warn")
    return fmt::format("{}: look at its safety below, then use {}.", effect, file);
  return fmt::format("{} and is no less safe: use {}.", effect, file);
}

std::string predicted_text(const Prediction& prediction, const std::string& file) {
  return fmt::format(
      "The world model predicts positions {} frames ahead with an error of {:.2f} m, {} constant "
      "velocity ({:.2f} m){}.",
      prediction.frames, prediction.error_m,
      prediction.is_better() ? "better than" : "no better than", prediction.constant_velocity_m,
      file.empty() ? ""
                   : ": use " + code(file) + " as <code>run.init_from</code> of the next phase");
}

/// A sentence on how the run ended, or that it still runs. Empty if the run is done.
std::string status_text(RunStatus status, const Json& summary) {
  const std::string message = html_escaped(summary.value("message", ""));
  switch (status) {
    case RunStatus::kDone:
      return "";
    case RunStatus::kRunning:
      return "The training still runs. ";
    case RunStatus::kStopped:
      return "The training was stopped; the same command continues it. ";
    case RunStatus::kFailed:
      return "The training failed" + (message.empty() ? "" : ": " + message) + ". ";
    case RunStatus::kDead:
      return "The training was killed or lost; the same command continues it. ";
  }
  return "";
}

}  // namespace

std::string first_screen(const RunReader& run, const std::vector<RunReader>& parts,
                         bool has_ended) {
  const Json summary = run.summary().value_or(Json::object());
  const RunStatus status = has_ended ? run.written_status() : run.status();
  const Json comparison = final_comparison(parts);
  const fs::path& root = run.folder().root();
  std::string outcome;
  std::string cards;
  std::string tables;
  for (auto part = parts.rbegin(); part != parts.rend() && tables.empty(); ++part) {
    for (const Json& evaluation : evaluations_of(*part)) {
      tables += controllers_table(evaluation);
      const Json* trained = trained_of(evaluation);
      if (!trained) continue;
      if (has_gain(*trained)) {
        cards += gain_card(evaluation, *trained);
        if (outcome.empty()) outcome = evaluated_text(evaluation, *trained, comparison, root);
      }
      const Verdict safety = safety_of(*trained, none_of(evaluation));
      cards += card("Safety", safety.tone, safety.answer, safety.meaning);
    }
  }
  cards += script_card(comparison);
  if (tables.empty() && !parts.empty()) {
    const Prediction prediction = prediction_of(parts.front());
    cards += prediction_card(prediction);
    if (prediction.frames > 0) {
      outcome = predicted_text(prediction, result_file(parts.front(), root));
    }
  }
  if (outcome.empty() && !parts.empty()) {
    const std::string file = result_file(parts.back(), root);
    outcome = "Nothing has been evaluated yet" +
              (file.empty() ? "." : "; the newest result is " + code(file) + ".");
  }
  return "<p class=\"lead\">" + status_text(status, summary) + outcome +
         "</p>\n<section class=\"cards\">\n" + cards + training_card(parts, status, summary) +
         "</section>\n" + tables;
}

}  // namespace traffic::report
