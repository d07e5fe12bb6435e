// Reads SUMO's options with SUMO's own functions, without starting a simulation.
#include "sumo_options.h"

#include <fmt/ranges.h>
#include <libsumo/Simulation.h>

#include <charconv>
#include <stdexcept>

#include "process_settings.h"
#include "stderr_capture.h"
#include "sumo_outputs.h"
#include "traffic/core/error.h"

// The classes and the function up to string2time() are declared as in SUMO 1.28's folders
// src/utils/options, src/utils/xml and src/microsim. libsumo exports these functions, but has no
// headers for them. If a later version lacks one of them, the program fails to link.
class OptionsCont {
 public:
  static OptionsCont& getOptions();
  void clear();
  bool isSet(const std::string& name, bool fail_on_unknown) const;
  bool isDefault(const std::string& name) const;
  std::string getValueString(const std::string& name) const;  // as it was written
  std::string getString(const std::string& name) const;
  double getFloat(const std::string& name) const;
  bool getBool(const std::string& name) const;
  std::string getTypeName(std::string name);
  const std::vector<std::string>& getStringVector(const std::string& name) const;
  const std::vector<std::string>& getSubTopics() const;
  std::vector<std::string> getSubTopicsEntries(const std::string& topic) const;
};
class OptionsIO {
 public:
  static void setArgs(const std::vector<std::string>& args);
  static void getOptions(bool command_line_only);
};
class MSFrame {
 public:
  static void fillOptions();
};
class XMLSubSys {
 public:
  static void init();
  static void close();
};
long long string2time(const std::string& text);  // milliseconds

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;

/// Keeps SUMO's XML parser ready while it lives.
class XmlParser {
 public:
  XmlParser() { XMLSubSys::init(); }
  ~XmlParser() { XMLSubSys::close(); }
  XmlParser(const XmlParser&) = delete;
  XmlParser& operator=(const XmlParser&) = delete;
};

}  // namespace

std::optional<double> parse_time(const std::string& text) {
  constexpr double kMillisecond_s = 1e-3;
  if (text.empty()) return std::nullopt;
  try {
    return static_cast<double>(string2time(text)) * kMillisecond_s;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0.0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || error != std::errc() || end != last) return std::nullopt;
  return value;
}

SumoOptions::SumoOptions(const fs::path& sumocfg, const std::vector<std::string>& args) {
  TRAFFIC_CHECK(!libsumo::Simulation::isLoaded(),
                "the options of {} are read while a simulation is loaded", sumocfg.string());
  prepare_process();
  const XmlParser parser;
  std::vector<std::string> all = {"--configuration-file", sumocfg.string()};
  all.insert(all.end(), args.begin(), args.end());
  const StdoutGuard quiet;
  StderrCapture capture;
  try {
    OptionsIO::setArgs(all);
    read(/*only_arguments=*/true);
    read(/*only_arguments=*/false);
  } catch (const std::exception& e) {
    const std::string text = capture.end();
    throw DataError("SUMO cannot load {}: {}", sumocfg.string(), reason_of(text, e));
  }
}

void SumoOptions::read(bool only_arguments) {
  OptionsCont& parsed = OptionsCont::getOptions();
  parsed.clear();
  MSFrame::fillOptions();
  OptionsIO::getOptions(only_arguments);
  for (const std::string& topic : parsed.getSubTopics()) {
    for (const std::string& name : parsed.getSubTopicsEntries(topic)) {
      if (!parsed.isSet(name, false)) continue;
      Option& option = options_[name];
      const std::string type = parsed.getTypeName(name);
      const bool is_text = type == "FILE" || type == "STR" || type == "TIME";
      option.written = parsed.getValueString(name);
      option.value = is_text          ? parsed.getString(name)
                     : type == "BOOL" ? (parsed.getBool(name) ? "true" : "false")
                                      : option.written;
      if (type == "FLOAT") option.number = parsed.getFloat(name);
      if (type == "FILE") option.files = parsed.getStringVector(name);
      option.topic = topic;
      option.is_default = parsed.isDefault(name);
      if (only_arguments) option.is_argument = !option.is_default;
    }
  }
}

const SumoOptions::Option* SumoOptions::option(std::string_view name) const {
  const auto found = options_.find(name);
  return found != options_.end() ? &found->second : nullptr;
}

std::optional<std::string> SumoOptions::find(std::string_view name) const {
  const Option* found = option(name);
  return found != nullptr ? std::optional(found->value) : std::nullopt;
}

std::optional<double> SumoOptions::seconds(std::string_view name) const {
  const Option* found = option(name);
  return found != nullptr ? parse_time(found->value) : std::nullopt;
}

std::optional<double> SumoOptions::number(std::string_view name) const {
  const Option* found = option(name);
  return found != nullptr ? found->number : std::nullopt;
}

bool SumoOptions::is_on(std::string_view name) const {
  const Option* found = option(name);
  return found != nullptr && found->value == "true";
}

std::vector<fs::path> SumoOptions::files(std::string_view name) const {
  const Option* found = option(name);
  if (found == nullptr) return {};
  std::vector<fs::path> files;
  for (const std::string& file : found->files) {
    if (!file.empty()) files.emplace_back(file);  // SUMO ignores empty names
  }
  return files;
}

std::vector<std::string> SumoOptions::names_of_files() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : of_simulation()) {
    const Option* found = option(name);
    if (!found->files.empty() && !writes_files(name, *found)) names.push_back(name);
  }
  return names;
}

bool SumoOptions::is_argument(std::string_view name) const {
  const Option* found = option(name);
  return found != nullptr && found->is_argument;
}

bool SumoOptions::writes_files(const std::string& name, const Option& option) {
  if (option.topic == "Output") {
    // Three options under this heading write no file. They say what a saved state contains, also a
    // state that SumoEnv::save() writes.
    const bool is_of_every_state = name == "save-state.rng" ||
                                   name == "save-state.transportables" ||
                                   name == "save-state.constraints";
    return !is_of_every_state;
  }
  return name.ends_with("output") || name.ends_with("log") || name == "device.ssm.file" ||
         name == "device.toc.file" || name == "save-configuration" || name == "save-template" ||
         name == "save-schema";
}

std::map<std::string, std::string> SumoOptions::of_simulation() const {
  std::map<std::string, std::string> all;
  for (const auto& [name, option] : options_) {
    const std::string& topic = option.topic;
    const bool is_listening = topic == "TraCI Server";
    const bool is_of_program = topic == "Configuration" || topic == "Report" || topic == "GUI Only";
    if (option.is_default || is_listening || name == "configuration-file") continue;
    if (!option.is_argument && (is_of_program || writes_files(name, option))) continue;
    // SUMO decodes %20 and the like in file names that the .sumocfg gives, but not in those that an
    // argument gives.
    const bool is_decoded = !option.is_argument && !option.files.empty();
    all[name] = is_decoded ? fmt::format("{}", fmt::join(option.files, ",")) : option.written;
  }
  return all;
}

std::vector<std::string> SumoOptions::outputs_of_file() const {
  std::vector<std::string> names;
  for (const auto& [name, option] : options_) {
    // Options with such names name a file that SUMO reads: the edges to which an output is
    // restricted.
    if (name.ends_with("input-file")) continue;
    const bool names_files = !option.files.empty() || name == "device.ssm.file" ||
                             name == "device.toc.file" || name == "save-state.times" ||
                             name == "save-state.period";
    if (!option.is_default && !option.is_argument && names_files && writes_files(name, option)) {
      names.push_back(name);
    }
  }
  return names;
}

std::vector<std::string> SumoOptions::files_of_arguments() const {
  std::vector<std::string> files;
  for (const auto& [name, option] : options_) {
    if (!option.is_argument) continue;
    files.insert(files.end(), option.files.begin(), option.files.end());
    files.push_back(option.value);  // some options name a file, but do not have the type FILE
  }
  return files;
}

}  // namespace traffic::sim
