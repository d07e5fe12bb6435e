#include "evaluate/replay.h"

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <pugixml.hpp>
#include <sstream>
#include <string_view>
#include <system_error>

#include "traffic/core/atomic_file.h"
#include "traffic/core/error.h"
#include "traffic/report/json_file.h"
#include "traffic/report/replay_page.h"
#include "traffic/sim/scenario.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int kFormatVersion = 1;

/// Two checkpoints may have the same name.
std::string file_stem(const EvaluationPlan& plan, std::size_t controller) {
  return fmt::format("{}-{}", controller,
                     report::controller_label(plan.controllers.at(controller)));
}

fs::path recording_file(const EvaluationPlan& plan, std::size_t controller) {
  return plan.replay_dir / (file_stem(plan, controller) + ".recording.json");
}

/// What SUMO's option in a configuration file lists, each from the folder that the file lies in.
std::string with_whole_paths(std::string_view files, const fs::path& folder) {
  std::string whole;
  std::istringstream list{std::string(files)};
  for (std::string file; std::getline(list, file, ',');) {
    file.erase(0, file.find_first_not_of(' '));
    if (!whole.empty()) whole += ',';
    whole += (folder / file).lexically_normal().string();
  }
  return whole;
}

void set_option(pugi::xml_node configuration, const std::string& name, const std::string& value) {
  const auto known = configuration.find_node(
      [&](const pugi::xml_node& node) { return std::string_view(node.name()) == name; });
  pugi::xml_node option = known ? known : configuration.append_child(name.c_str());
  if (!option.attribute("value")) option.append_attribute("value");
  option.attribute("value").set_value(value.c_str());
}

/// The scenario with the seed and the settings of this evaluation, its files named in full.
void write_gui_scenario(const EvaluationPlan& plan) {
  const fs::path scenario = sim::find_scenario(plan.config.env.scenario);
  pugi::xml_document document;
  if (const auto read = document.load_file(scenario.c_str()); !read) {
    throw DataError("{}: {}", scenario.string(), read.description());
  }
  pugi::xml_node configuration = document.document_element();
  for (pugi::xml_node option : configuration.child("input")) {
    pugi::xml_attribute value = option.attribute("value");
    value.set_value(with_whole_paths(value.value(), scenario.parent_path()).c_str());
  }
  set_option(configuration, "seed", fmt::format("{}", plan.seeds.front()));
  if (plan.demand_scale != 1.0) {
    set_option(configuration, "scale", fmt::format("{}", plan.demand_scale));
  }
  const auto& arguments = plan.config.env.sumo_args;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!arguments[i].starts_with("--")) continue;
    const bool has_value = i + 1 < arguments.size() && !arguments[i + 1].starts_with("--");
    set_option(configuration, arguments[i].substr(2), has_value ? arguments[i + 1] : "true");
  }
  set_option(configuration, "gui-settings-file", "sumo-gui.view.xml");
  std::ostringstream text;
  document.save(text, "  ");
  write_file_atomically(plan.replay_dir / "sumo-gui.sumocfg", text.str());
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
