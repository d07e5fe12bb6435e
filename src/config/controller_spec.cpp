// The table of scripted controllers with their parameters, and the parser of controller names.
#include "traffic/config/controller_spec.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "rows.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::config {
namespace {

const ControllerParameter kTop{
    "top", 0, between(0, 100000),
    "maximum number of vehicles under control at once; 0 means vehicles.top_k"};

const ControllerParameter kBrake{"brake_mps2", 0, between(0, 10),
                                 "maximum deceleration, m/s2; 0 means env.max_slowdown_mps2"};

ControllerParameter period(double value) {
  return {"period_s", value, between(0, 3600),
          "time between decisions, s; 0 means env.control_period_s"};
}

std::vector<ControllerKind> make_kinds() {
  const Range metres = between(0, 1e5);
  return {
      {"none", "Gives no commands.", {}},
      {"random",
       "Gives random commands to random candidates (vehicles that may be commanded).",
       {{"share", 0.5, between(0, 1), "share of the candidates that are commanded"},
        period(0),
        kTop}},
      {"meter",
       "While the zone behind a conflict is over its critical density, connected vehicles on its "
       "minor approaches are held.",
       {{"density", 30, above(0, 1000), "critical density, vehicles per km and lane"},
        {"before", 0, between(0, 1),
         "1: measures the density of the last 200 m before the stop lines instead of the zone"},
        {"from_m", 5, metres, "minimum distance from the stop line at which vehicles are held, m"},
        {"to_m", 60, metres, "maximum distance from the stop line at which vehicles are held, m"},
        {"speed_mps", 0, between(0, 100), "speed of the held vehicles, m/s; 0: they stop"},
        period(1),
        kBrake,
        kTop}},
      {"vsl",
       "While the zone behind a conflict is over its critical density, connected vehicles on the "
       "approaches that go first drive slowly (variable speed limit, mainstream traffic flow "
       "control; Carlson et al. 2010).",
       {{"density", 30, above(0, 1000), "critical density, vehicles per km and lane"},
        {"from_m", 5, metres,
         "minimum distance from the stop line at which vehicles are slowed down, m"},
        {"to_m", 250, metres,
         "maximum distance from the stop line at which vehicles are slowed down, m"},
        {"speed_mps", 6, above(0, 100), "speed of these vehicles, m/s"},
        {"inner", 1, between(0, 1), "1: only the lane farthest from the edge of the road"},
        period(1),
        kBrake,
        kTop}},
      {"yield",
       "While a stream that a light has released has green, the first connected vehicle on each "
       "lane of an approach with priority slows down, so that it reaches the stop line when that "
       "green ends.",
       {{"from_m", 0, metres,
         "minimum distance from the stop line at which vehicles get commands, m"},
        {"to_m", 200, metres,
         "maximum distance from the stop line at which vehicles get commands, m"},
        {"lead_s", 0, between(0, 3600), "begins this long before the other stream gets green, s"},
        {"left_s", 10, between(0, 3600),
         "does not begin if less than this time is left of the other stream's green, s"},
        period(0),
        kBrake,
        kTop}},
      {"let_in",
       "When more vehicles wait on a minor approach than on the approaches with priority over it, "
       "connected vehicles on the approaches with priority stop until the minor queue is gone.",
       {{"queue", 6, between(1, 1e5), "begins when this many vehicles wait on the minor approach"},
        {"left", 0, between(0, 1e5), "ends when at most this many vehicles still wait there"},
        {"most", 20, between(1, 1e5),
         "also ends when this many vehicles wait on an approach with priority"},
        {"to_m", 100, metres,
         "maximum distance from the stop line at which vehicles are stopped, m"},
        period(1),
        kBrake,
        kTop}},
      {"sort",
       "Connected vehicles that must change lanes behind a conflict change before it, and the "
       "other connected vehicles move left to make room for them.",
       {{"from_m", 20, metres,
         "minimum distance from the stop line at which vehicles get commands, m"},
        {"to_m", 500, metres,
         "maximum distance from the stop line at which vehicles get commands, m"},
        {"through", 1, between(0, 1), "0: only vehicles that must change lanes"},
        {"balance", 1, above(0, 100),
         "no vehicle is sent to a lane that has more than this many times as many vehicles as the "
         "vehicle's present lane"},
        period(1),
        kTop}},
      {"brisk",
       "Connected vehicles near a conflict drive as fast as their drivers may, without "
       "dawdling; the vehicles nearest to the stop line are commanded first.",
       {{"to_m", 100, metres,
         "maximum distance from the stop line at which vehicles get commands, m"},
        {"behind", 1, between(0, 1), "1: also vehicles that have just passed a conflict"},
        period(1),
        kTop}},
      {"glide",
       "Before a red light connected vehicles slow down so as to reach the line when green "
       "begins. If no light is red, vehicles near a conflict drive as fast as their drivers may.",
       {{"to_m", 100, metres,
         "maximum distance from the stop line of a red light at which vehicles are slowed down, m"},
        {"brisk_m", 400, metres,
         "maximum distance from a stop line at which vehicles drive fast if no light is red, m"},
        period(1),
        kBrake,
        kTop}},
      {"greedy",
       "Traffic lights: shows the green with the most vehicles within 50 m of its stop lines.",
       {period(5)},
       true},
      {"max_pressure",
       "Traffic lights: shows the green with the longest queues before its stop lines, minus the "
       "queues on the lanes behind the light.",
       {period(5)},
       true},
      {"actuated",
       "Traffic lights: keeps the present green while vehicles reach its stop lines, then shows "
       "the next green of the program for which there is a vehicle.",
       {period(5), {"max_s", 50, between(0, 3600), "longest green while other streams wait, s"}},
       true},
      {"retime",
       "Traffic lights: keeps the order of the program's phases and ends them early or late, "
       "within minDur and maxDur where the program has them.",
       {period(1),
        {"weight", 3, above(0, 1000),
         "a phase ends when the vehicles that wait for green are more than this many times those "
         "that have green"}},
       true,
       true},
  };
}

const ControllerKind* find_kind(std::string_view name) {
  const auto kinds = controller_kinds();
  const auto kind =
      std::ranges::find_if(kinds, [&](const ControllerKind& one) { return one.name == name; });
  return kind == kinds.end() ? nullptr : &*kind;
}

const ControllerKind& kind_of(std::string_view name, std::string_view text) {
  if (const ControllerKind* kind = find_kind(name)) return *kind;
  std::vector<std::string_view> names;
  for (const ControllerKind& one : controller_kinds()) names.push_back(one.name);
  const auto meant = nearest_name(name, names);
  throw ConfigError("there is no controller '{}'; known are {}{}", text, fmt::join(names, ", "),
                    meant ? fmt::format("; did you mean '{}'?", *meant) : "");
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Reads one "name=value" and adds it to the parameters of `spec`.
void add_value(std::string_view part, std::string_view text, ControllerSpec& spec) {
  const auto equals = part.find('=');
  const std::string_view name = without_spaces(part.substr(0, equals));
  const ControllerKind& kind = kind_of(spec.name, text);
  const ControllerParameter* parameter = kind.parameter(name);
  if (parameter == nullptr) {
    std::vector<std::string_view> names;
    for (const ControllerParameter& one : kind.parameters) names.push_back(one.name);
    throw ConfigError("controller '{}': {} has no parameter '{}'; it has {}", text, kind.name, name,
                      names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")));
  }
  const std::string_view digits =
      equals == std::string_view::npos ? "" : without_spaces(part.substr(equals + 1));
  const auto value = number(digits);
  if (!value || !parameter->range.contains(*value)) {
    throw ConfigError("controller '{}': {} is '{}', expected a number {}", text, name, digits,
                      parameter->range.describe());
  }
  spec.values[std::string(name)] = *value;
}

}  // namespace

const ControllerParameter* ControllerKind::parameter(std::string_view wanted) const {
  const auto found = std::ranges::find_if(
      parameters, [&](const ControllerParameter& one) { return one.name == wanted; });
  return found == parameters.end() ? nullptr : &*found;
}

std::span<const ControllerKind> controller_kinds() {
  static const std::vector<ControllerKind> kinds = make_kinds();
  return kinds;
}

double ControllerSpec::get(std::string_view parameter) const {
  if (const auto own = values.find(parameter); own != values.end()) return own->second;
  const ControllerKind* kind = find_kind(name);
  const ControllerParameter* known = kind == nullptr ? nullptr : kind->parameter(parameter);
  TRAFFIC_CHECK(known != nullptr, "{} has no parameter {}", name, parameter);
  return known->value;
}

double ControllerSpec::get_or(std::string_view parameter, double otherwise) const {
  const ControllerKind* kind = find_kind(name);
  return kind != nullptr && kind->parameter(parameter) != nullptr ? get(parameter) : otherwise;
}

std::string ControllerSpec::text() const {
  std::vector<std::string> parts;
  for (const auto& [parameter, value] : values)
    parts.push_back(fmt::format("{}={}", parameter, value));
  return parts.empty() ? name : fmt::format("{}({})", name, fmt::join(parts, ", "));
}

ControllerSpec parse_controller(std::string_view text) {
  text = without_spaces(text);
  const auto open = text.find('(');
  ControllerSpec spec{.name = std::string(without_spaces(text.substr(0, open)))};
  kind_of(spec.name, text);
  if (open == std::string_view::npos) return spec;
  if (text.back() != ')') {
    throw ConfigError("controller '{}': expected NAME(parameter=value, ...)", text);
  }
  std::string_view rest = text.substr(open + 1);
  rest.remove_suffix(1);
  while (!without_spaces(rest).empty()) {
    const auto comma = rest.find(',');
    add_value(without_spaces(rest.substr(0, comma)), text, spec);
    rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
  }
  return spec;
}

std::vector<std::string_view> controller_parts(std::string_view text) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t i = text.find('+'); i != std::string_view::npos; i = text.find('+', i + 1)) {
    const std::string_view after = without_spaces(text.substr(i + 1));
    const std::string_view name = after.substr(0, after.find_first_of("(+ "));
    if (find_kind(name) == nullptr && !after.starts_with("checkpoint:")) continue;
    parts.push_back(without_spaces(text.substr(begin, i - begin)));
    begin = i + 1;
  }
  parts.push_back(without_spaces(text.substr(begin)));
  return parts;
}

std::vector<std::string> controller_parts(std::span<const std::string> texts) {
  std::vector<std::string> all;
  for (const std::string& text : texts) {
    for (const std::string_view part : controller_parts(text)) all.emplace_back(part);
  }
  return all;
}

std::string refuse_to_imitate(std::string_view text) {
  try {
    const ControllerSpec spec = parse_controller(text);
    if (spec.name == "none" || !commands_of(spec).empty()) return {};
    return fmt::format("{} gives no commands that could be learned", spec.name);
  } catch (const ConfigError& error) {
    return error.what();
  }
}

bool sets_signals(std::string_view text) {
  const ControllerKind* kind = find_kind(without_spaces(text.substr(0, text.find('('))));
  return kind != nullptr && kind->sets_signals;
}

bool keeps_programs(std::string_view light_advisor) { return light_advisor != kTakesOver; }

std::string refuse_as_light_advisor(std::string_view text) {
  if (text == kTakesOver || text == kOwnPrograms) return {};
  std::vector<std::string_view> names{kTakesOver, kOwnPrograms};
  for (const ControllerKind& kind : controller_kinds()) {
    if (kind.keeps_programs) names.push_back(kind.name);
  }
  try {
    const ControllerKind& kind = kind_of(parse_controller(text).name, text);
    if (kind.keeps_programs) return {};
  } catch (const ConfigError& error) {
    if (find_kind(text.substr(0, text.find('('))) != nullptr) return error.what();
  }
  return fmt::format("expected one of {}", fmt::join(names, ", "));
}

bool commands_vehicles(std::string_view advisor) { return !advisor.empty() && advisor != "none"; }

std::vector<std::string_view> commands_of(const ControllerSpec& spec) {
  if (spec.name == "meter") {
    return {spec.get("speed_mps") > 0 ? std::string_view("slow") : std::string_view("stop")};
  }
  if (spec.name == "vsl") return {"slow"};
  if (spec.name == "yield") return {"arrive_late"};
  if (spec.name == "let_in") return {"stop"};
  if (spec.name == "sort") return {"left", "right"};
  if (spec.name == "brisk") return {"fast"};
  if (spec.name == "glide") return {"arrive_green", "fast"};
  return {};
}

}  // namespace traffic::config
