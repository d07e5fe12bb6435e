// Makes the main pictures of a report as JSON (pictures.h).
#include "pictures.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <utility>

#include "curves.h"
#include "traffic/report/json_file.h"

namespace traffic::report {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

/// The point of a series with the largest value, and its last point.
struct Ends {
  SeriesPoint best;
  SeriesPoint last;
};

Ends ends_of(const std::vector<SeriesPoint>& series) {
  return {.best = *std::ranges::max_element(series, {}, &SeriesPoint::value),
          .last = series.back()};
}

/// A dashed horizontal line at `value` over the range of `x`, e.g. for the gain of a script.
Json level(const std::string& label, double value, const Json& x) {
  return Json{{"label", label},
              {"x", Json{x.front(), x.back()}},
              {"y", Json{value, value}},
              {"dashed", true}};
}

/// Adds the gain over no control during the training, and the gains of scripts in the evaluation as
/// horizontal lines.
void add_learning_curve(Json& pictures, const RunReader& run, const Metrics& metrics) {
  const auto gain = metrics.series("eval/gain");
  if (gain.empty()) return;
  const Ends ends = ends_of(gain);
  Json line = curve("trained", gain);
  const Json width = curve("", metrics.series("eval/gain_half_width"));
  for (const int sign : {-1, 1}) {
    Json bound = Json::array();
    for (std::size_t i = 0; i < line["y"].size() && i < width["y"].size(); ++i) {
      const bool known = line["y"][i].is_number() && width["y"][i].is_number();
      bound.push_back(known ? Json(line["y"][i].get<double>() + sign * width["y"][i].get<double>())
                            : Json());
    }
    line[sign < 0 ? "low" : "high"] = std::move(bound);
  }
  Json lines = Json::array({line});
  for (const Json& evaluation : evaluations_of(run)) {
    for (const Json& row : evaluation.value("controllers", Json::array())) {
      const std::string name = row.value("controller", "");
      if (!row.contains("gain_%") || !row["gain_%"].is_number()) continue;
      if (name.starts_with("checkpoint:")) continue;
      lines.push_back(level(name + " (at the end)", row["gain_%"], line["x"]));
    }
    break;  // the picture shows only the first scenario; the tables show the others
  }
  pictures.push_back(
      Json{{"kind", "lines"},
           {"title", fmt::format("Best at iteration {}: {:+.2f} % over no control", ends.best.step,
                                 ends.best.value)},
           {"note",
            "Band: 95 % interval of the paired gain on the selection seeds. Dashed: scripts, on "
            "the seeds of the evaluation at the end."},
           {"x_label", "iteration"},
           {"y_label", "gain over no control, %"},
           {"lines", std::move(lines)}});
}

void add_constraint(Json& pictures, const Metrics& metrics) {
  const auto cost = metrics.series("Metrics/EpCost");
  const auto limit = metrics.series("Metrics/CostLimit");
  const auto multiplier = metrics.series("Metrics/LagrangeMultiplier");
  if (cost.empty() || limit.empty()) return;
  Json limit_line = curve("limit", limit);
  limit_line["dashed"] = true;
  Json lines = Json::array({curve("cost", cost), std::move(limit_line)});
  if (!multiplier.empty()) {
    lines.push_back(curve("multiplier", multiplier));
    lines.back()["right_axis"] = "Lagrange multiplier";
  }
  const bool is_kept = cost.back().value <= limit.back().value;
  pictures.push_back(Json{
      {"kind", "lines"},
      {"title", fmt::format("The cost ended at {:.3g}, {} its limit of {:.3g}", cost.back().value,
                            is_kept ? "within" : "above", limit.back().value)},
      {"x_label", "iteration"},
      {"y_label", "mean cost of a control step"},
      {"lines", std::move(lines)}});
}

/// A line of a chart whose x is a frame number: the last values of the metrics <name>_frame1,
/// <name>_frame2, ...
Json by_horizon(const std::string& label, const Metrics& metrics, const std::string& name) {
  Json line{{"label", label}, {"x", Json::array()}, {"y", Json::array()}};
  for (int frame = 1;; ++frame) {
    const auto series = metrics.series(fmt::format("{}_frame{}", name, frame));
    if (series.empty()) break;
    line["x"].push_back(frame);
    line["y"].push_back(series.back().value);
  }
  return line;
}

void add_prediction(Json& pictures, const Metrics& metrics) {
  Json model = by_horizon("world model", metrics, "validation/position_rmse_m");
  Json velocity =
      by_horizon("constant velocity", metrics, "validation/constant_velocity_position_rmse_m");
  if (model["y"].empty() || velocity["y"].size() != model["y"].size()) return;
  const double ours = model["y"].back();
  const double theirs = velocity["y"].back();
  Json acceleration = by_horizon("constant acceleration", metrics,
                                 "validation/constant_acceleration_position_rmse_m");
  velocity["dashed"] = true;
  acceleration["dashed"] = true;
  pictures.push_back(Json{
      {"kind", "lines"},
      {"title", fmt::format("{} frames ahead the world model is off by {:.2f} m, constant "
                            "velocity by {:.2f} m",
                            model["y"].size(), ours, theirs)},
      {"note", "Root mean square over the validation data, after the last epoch."},
      {"x_label", "frames ahead"},
      {"y_label", "error of position, m"},
      {"from_zero", true},
      {"lines", Json::array({std::move(model), std::move(velocity), std::move(acceleration)})}});
}

void add_time_share(Json& pictures, const RunReader& run) {
  const auto summary = run.summary();
  if (!summary || !summary->contains("time_share")) return;
  std::vector<std::pair<double, std::string>> shares;
  for (const auto& [name, share] : (*summary)["time_share"].items()) {
    if (share.is_number() && share.get<double>() >= 0.005) shares.emplace_back(share, name);
  }
  if (shares.empty()) return;
  std::ranges::sort(shares, std::greater());
  Json names = Json::array();
  Json values = Json::array();
  for (const auto& [share, name] : shares) {
    names.push_back(name);
    values.push_back(100.0 * share);
  }
  pictures.push_back(
      Json{{"kind", "bars"},
           {"title", fmt::format("{:.0f} % of the time went to \"{}\"",
                                 100.0 * shares.front().first, shares.front().second)},
           {"x_label", "share of rank 0's time, %"},
           {"names", std::move(names)},
           {"values", std::move(values)}});
}

/// Adds the traffic that the evaluation recorded (traffic.json), with the folder of its replay.
void add_traffic(Json& pictures, const RunReader& run) {
  std::vector<fs::path> folders{run.folder().replay()};
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(run.folder().replay(), error)) {
    if (entry.is_directory(error)) folders.push_back(entry.path());
  }
  std::ranges::sort(folders);
  for (const fs::path& folder : folders) {
    if (auto traffic = read_json_file(folder / "traffic.json")) {
      if (folder != run.folder().replay()) (*traffic)["folder"] = folder.filename().string();
      pictures.push_back(Json{{"kind", "traffic"}, {"traffic", std::move(*traffic)}});
    }
  }
}

}  // namespace

std::vector<Json> evaluations_of(const RunReader& run) {
  const auto json = run.evaluation();
  std::vector<Json> all;
  if (!json) return all;
  for (const Json& one : json->value("scenarios", Json::array({*json}))) {
    const Json controllers = one.is_object() ? one.value("controllers", Json()) : Json();
    if (controllers.is_array() && !controllers.empty() && controllers.front().is_object()) {
      all.push_back(one);
    }
  }
  return all;
}

Json pictures_of(const RunReader& run) {
  Json pictures = Json::array();
  const Metrics metrics = run.metrics();
  add_traffic(pictures, run);
  add_learning_curve(pictures, run, metrics);
  add_constraint(pictures, metrics);
  add_prediction(pictures, metrics);
  add_time_share(pictures, run);
  return pictures;
}

}  // namespace traffic::report
