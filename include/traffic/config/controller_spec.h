/// The table of scripted controllers with their parameters, and functions that parse texts such as
/// "meter" and "yield(lead_s=12, top=10)". With them a configuration is checked before anything
/// runs. The controllers themselves are declared in traffic/scene/controller.h.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/config/schema.h"

namespace traffic::config {

struct ControllerParameter {
  std::string_view name;
  double value;  ///< default value
  Range range;
  std::string_view help;
};

/// A scripted controller in the table.
struct ControllerKind {
  std::string_view name;
  std::string_view help;
  std::vector<ControllerParameter> parameters;
  bool sets_signals = false;    ///< commands traffic lights and no vehicles
  bool keeps_programs = false;  ///< only changes how long the phases of the lights' programs last

  /// Null if there is no parameter of that name.
  [[nodiscard]] const ControllerParameter* parameter(std::string_view wanted) const;
};

/// All scripted controllers.
std::span<const ControllerKind> controller_kinds();

/// A controller, and the values of the parameters that differ from their defaults.
struct ControllerSpec {
  std::string name;
  std::map<std::string, double, std::less<>> values{};

  /// The value of a parameter, which the controller must have.
  [[nodiscard]] double get(std::string_view parameter) const;
  /// The value of a parameter, or `otherwise` if the controller has no such parameter.
  [[nodiscard]] double get_or(std::string_view parameter, double otherwise) const;
  /// "yield(lead_s=12, top=10)"; parsing the text gives the same controller.
  [[nodiscard]] std::string text() const;
};

/// @throws ConfigError that lists the allowed names or values
ControllerSpec parse_controller(std::string_view text);
/// Why a policy cannot imitate a controller; empty if it can. It can imitate scripts that command
/// vehicles, and `none`.
std::string refuse_to_imitate(std::string_view text);

/// Splits a text such as "greedy+yield" into the controllers that act together, in their order. A +
/// separates two controllers only if the name of a controller follows, because names of files may
/// contain a +.
std::vector<std::string_view> controller_parts(std::string_view text);
/// Splits each of several texts, and returns all controllers in one list.
std::vector<std::string> controller_parts(std::span<const std::string> texts);

/// Value of `lights.advisor`: the policy replaces the lights' programs and acts as the script
/// `greedy` at first.
inline constexpr std::string_view kTakesOver = "greedy";
/// Value of `lights.advisor`: the policy keeps the lights' programs and acts as they do at first.
inline constexpr std::string_view kOwnPrograms = "program";
/// Whether a policy with this `lights.advisor` keeps the programs of the lights and only changes
/// how long their phases last.
bool keeps_programs(std::string_view light_advisor);
/// Why a text is not allowed as `lights.advisor`; empty if it is allowed.
std::string refuse_as_light_advisor(std::string_view text);
/// Whether the text names a scripted controller of traffic lights.
bool sets_signals(std::string_view text);

/// Whether an advisor commands vehicles: it is neither empty nor `none`.
bool commands_vehicles(std::string_view advisor);

/// The commands that a controller gives to vehicles, such as "stop"; empty if it gives none.
std::vector<std::string_view> commands_of(const ControllerSpec& spec);

}  // namespace traffic::config
