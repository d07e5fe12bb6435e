#include "evaluate/replay.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <system_error>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/report/json_file.h"
#include "traffic/report/replay_page.h"
#include "traffic/sim/env_options.h"
#include "traffic/sim/sumocfg.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

/// Beginning of the names of a controller's files. It contains the controller's index, because two
/// checkpoints may have the same file name.
std::string file_stem(const EvaluationPlan& plan, std::size_t controller) {
  return fmt::format("{}-{}", controller,
                     report::controller_label(plan.controllers.at(controller)));
}

fs::path recording_file(const EvaluationPlan& plan, std::size_t controller) {
  return plan.replay_dir / (file_stem(plan, controller) + ".recording.json");
}

/// Writes the scenario with the seed and the settings of this evaluation, for sumo-gui.
void write_gui_scenario(const EvaluationPlan& plan) {
  sim::EnvOptions options = sim::env_options(plan.config.env);
  options.seed = plan.seeds.front();
  options.demand_factor = plan.demand_scale;
  sim::write_sumocfg(options, {{"gui-settings-file", "sumo-gui.view.xml"}},
                     plan.replay_dir / "sumo-gui.sumocfg");
  write_file_atomically(
      plan.replay_dir / "sumo-gui.view.xml",
      "<viewsettings>\n  <scheme name=\"real world\"/>\n  <delay value=\"100\"/>\n"
      "</viewsettings>\n");
}

}  // namespace

void create_replay_dir(const EvaluationPlan& plan) {
  std::error_code error;
  fs::create_directories(plan.replay_dir, error);
  if (!error) remove_stale_temporaries(plan.replay_dir);
  if (error) throw ResourceError("{}: {}", plan.replay_dir.string(), error.message());
}

std::vector<std::string> sumo_output_arguments(const EvaluationPlan& plan, std::size_t controller) {
  const fs::path file =
      fs::absolute(plan.replay_dir) / (file_stem(plan, controller) + ".fcd.xml.gz");
  return {"--fcd-output", file.string(), "--device.fcd.period", "1"};
}

void save_recording(const EvaluationPlan& plan, std::size_t controller,
                    const Recording& recording) {
  const Json all{{"controller", plan.controllers.at(controller)},
                 {"label", report::controller_label(plan.controllers.at(controller))},
                 {"figures", recording.figures()},
                 {"tracks", recording.tracks()},
                 {"network", recording.network()}};
  write_file_atomically(recording_file(plan, controller), all.dump());
}

void write_replay(const EvaluationPlan& plan) {
  Json replay{{"format_version", kFormatVersion},
              {"scenario", plan.config.env.scenario},
              {"seed", plan.seeds.front()},
              {"network", nullptr},
              {"recordings", Json::array()}};
  Json figures = replay;
  figures.erase("network");
  for (std::size_t c = 0; c < plan.controllers.size(); ++c) {
    Json one = report::read_json_file(recording_file(plan, c)).value();
    replay["network"] = std::move(one["network"]);
    Json named{{"controller", one["controller"]}, {"label", one["label"]}};
    figures["recordings"].push_back(named);
    figures["recordings"].back().update(one["figures"]);
    replay["recordings"].push_back(std::move(named));
    replay["recordings"].back().update(one["tracks"]);
  }
  write_file_atomically(plan.replay_dir / "traffic.json", figures.dump() + "\n");
  write_file_atomically(plan.replay_dir / "replay.html", report::replay_page(replay));
  write_gui_scenario(plan);
  for (std::size_t c = 0; c < plan.controllers.size(); ++c) fs::remove(recording_file(plan, c));
}

}  // namespace traffic::train
