// Lists the files of a scenario, and writes a .sumocfg with the options of an episode.
#include "traffic/sim/sumocfg.h"

#include <pugixml.hpp>
#include <set>
#include <sstream>

#include "sumo_options.h"
#include "sumo_run.h"
#include "traffic/core/atomic_file.h"
#include "traffic/scene/text_file.h"
#include "traffic/sim/scenario.h"

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;

/// The files that an XML file includes or refers to and that exist. A file that is no XML refers to
/// none.
std::vector<fs::path> referred_files(const fs::path& file) {
  const std::string text = scene::read_text_file(file, "scenario file");
  pugi::xml_document document;
  if (!document.load_buffer(text.data(), text.size())) return {};
  std::vector<fs::path> files;
  for (const auto& found : document.select_nodes("//@href | //@file")) {
    const fs::path other = file.parent_path() / found.attribute().as_string();
    std::error_code error;
    if (fs::is_regular_file(other, error)) files.push_back(other);
  }
  return files;
}

/// The value of an option that names files: their absolute paths. The character % is written as
/// %25, because SUMO decodes %20 and the like.
std::string absolute_paths(const std::vector<fs::path>& files) {
  std::string value;
  for (const fs::path& file : files) {
    if (!value.empty()) value += ',';
    for (const char c : fs::absolute(file).lexically_normal().string()) {
      value += c == '%' ? "%25" : std::string(1, c);
    }
  }
  return value;
}

}  // namespace

std::vector<fs::path> scenario_files(const std::string& scenario,
                                     const std::vector<std::string>& sumo_args) {
  const fs::path sumocfg = find_scenario(scenario);
  const SumoOptions options(sumocfg, sumo_args);
  std::vector<fs::path> open = {sumocfg};
  for (const std::string& name : options.names_of_files()) {
    for (const fs::path& file : options.files(name)) open.push_back(file);
  }
  std::set<fs::path> known;
  while (!open.empty()) {
    std::error_code error;
    const fs::path file = fs::weakly_canonical(open.back(), error);
    open.pop_back();
    if (!fs::is_regular_file(file, error) || !known.insert(file).second) continue;
    if (file == fs::weakly_canonical(sumocfg, error)) continue;  // its options are known already
    const auto more = referred_files(file);
    open.insert(open.end(), more.begin(), more.end());
  }
  return {known.begin(), known.end()};
}

void write_sumocfg(const EnvOptions& options, const std::map<std::string, std::string>& settings,
                   const fs::path& file) {
  const SumoRun run{.sumocfg = find_scenario(options.scenario),
                    .seed = options.seed,
                    .args = options.sumo_args,
                    .demand_factor = options.demand_factor,
                    .settings = settings};
  const SumoOptions read(run.sumocfg, run.args);
  pugi::xml_document document;
  pugi::xml_node configuration = document.append_child("configuration");
  for (const auto& [name, value] : options_of(run, read)) {
    const auto files = read.files(name);
    const bool is_path = !files.empty() && !settings.contains(name);
    configuration.append_child(name.c_str())
        .append_attribute("value")
        .set_value(is_path ? absolute_paths(files).c_str() : value.c_str());
  }
  std::ostringstream text;
  document.save(text, "  ");
  write_file_atomically(file, text.str());
}

}  // namespace traffic::sim
