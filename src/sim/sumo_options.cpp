#include "sumo_options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <pugixml.hpp>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/scene/text_file.h"

namespace traffic::sim {
namespace {

namespace fs = std::filesystem;

/// Other names that SUMO takes for what is looked at here.
constexpr std::array<std::pair<std::string_view, std::string_view>, 11> kOtherNames{
    {{"net", "net-file"},
     {"n", "net-file"},
     {"route", "route-files"},
     {"routes", "route-files"},
     {"r", "route-files"},
     {"additional", "additional-files"},
     {"a", "additional-files"},
     {"begin-time", "begin"},
     {"b", "begin"},
     {"end-time", "end"},
     {"e", "end"}}};

std::string long_name(std::string_view name) {
  for (const auto& [other, known] : kOtherNames) {
    if (name == other) return std::string(known);
  }
  return std::string(name);
}

std::optional<double> parse_number(std::string_view text) {
  double value = 0.0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, value);
  if (text.empty() || error != std::errc() || end != last) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> parse_time(std::string_view text) {
  constexpr std::array kUnits_s{60.0, 60.0, 24.0};
  double sum = 0.0;
  for (std::size_t part = 0; part <= kUnits_s.size(); ++part) {
    const std::size_t colon = text.find(':');
    const auto value = parse_number(text.substr(0, colon));
    if (!value) return std::nullopt;
    sum += *value;
    if (colon == std::string_view::npos) return sum;
    text.remove_prefix(colon + 1);
    // d:h:m:s has four parts, of which the first counts days.
    const auto colons = static_cast<std::size_t>(std::count(text.begin(), text.end(), ':'));
    if (colons >= kUnits_s.size()) return std::nullopt;
    sum *= kUnits_s[colons];
  }
  return std::nullopt;
}

SumoOptions::SumoOptions(const fs::path& sumocfg, const std::vector<std::string>& args)
    : sumocfg_(sumocfg) {
  const std::string text = scene::read_text_file(sumocfg, "scenario");
  pugi::xml_document document;
  const auto result = document.load_buffer(text.data(), text.size());
  if (!result) {
    throw DataError("scenario {}: {} at byte {}", sumocfg.string(), result.description(),
                    result.offset);
  }
  for (const auto& found : document.select_nodes("//*[@value or @v]")) {
    const auto node = found.node();
    const auto value = node.attribute("value") ? node.attribute("value") : node.attribute("v");
    of_file_[long_name(node.name())] = value.as_string();
  }
  read_arguments(args);
}

void SumoOptions::read_arguments(const std::vector<std::string>& args) {
  for (std::size_t i = 0; i < args.size(); ++i) {
    std::string name = args[i];
    if (!name.starts_with('-')) continue;
    name.erase(0, name.find_first_not_of('-'));
    std::string value = "true";
    if (const auto equals = name.find('='); equals != std::string::npos) {
      value = name.substr(equals + 1);
      name.resize(equals);
    } else if (i + 1 < args.size() && (!args[i + 1].starts_with('-') || parse_time(args[i + 1]))) {
      value = args[++i];
    }
    of_arguments_[long_name(name)] = value;
  }
}

std::optional<std::string> SumoOptions::find(std::string_view name) const {
  for (const auto* known : {&of_arguments_, &of_file_}) {
    if (const auto found = known->find(name); found != known->end()) return found->second;
  }
  return std::nullopt;
}

std::optional<double> SumoOptions::seconds(std::string_view name) const {
  const auto text = find(name);
  return text ? parse_time(*text) : std::nullopt;
}

std::vector<fs::path> SumoOptions::files(std::string_view name) const {
  const std::string text = find(name).value_or("");
  const bool from_arguments = of_arguments_.contains(name);
  const fs::path base = from_arguments ? fs::current_path() : sumocfg_.parent_path();
  std::vector<fs::path> files;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find_first_of(", ;", at), text.size());
    if (end > at) files.push_back(base / text.substr(at, end - at));
    at = end + 1;
  }
  return files;
}

}  // namespace traffic::sim
