/// Scripted controllers by name, with parameters: "meter", "yield(lead_s=12, top=10)". This
/// table lets a configuration be checked before anything runs; traffic/scene/controller.h
/// implements the controllers.
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
  double value;  ///< default
  Range range;
  std::string_view help;
};

struct ControllerKind {
  std::string_view name;
  std::string_view help;
  std::vector<ControllerParameter> parameters;
  bool sets_signals = false;    ///< commands traffic lights and no vehicles
  bool keeps_programs = false;  ///< only changes how long the phases of their programs last

  /// Null if there is no parameter of that name.
  [[nodiscard]] const ControllerParameter* parameter(std::string_view wanted) const;
};

/// All scripted controllers.
std::span<const ControllerKind> controller_kinds();

/// A controller with the parameters that differ from their defaults.
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
/// Why a controller cannot be imitated; empty if it is scripted and deterministic.
std::string refuse_to_imitate(std::string_view text);

/// The controllers in "greedy+yield", which act together, in their order. A + separates only where
/// the name of a controller follows, because names of files may contain it.
std::vector<std::string_view> controller_parts(std::string_view text);
/// The parts of all these texts, one after the other.
std::vector<std::string> controller_parts(std::span<const std::string> texts);

/// Value of `lights.advisor`: the policy takes the lights over and begins as the script `greedy`.
inline constexpr std::string_view kTakesOver = "greedy";
/// Value of `lights.advisor`: the policy begins as the programs of the network.
inline constexpr std::string_view kOwnPrograms = "program";
/// Whether a policy with this `lights.advisor` keeps the programs of the lights and only changes
/// how long their phases last.
bool keeps_programs(std::string_view light_advisor);
/// Reason why the text is no `lights.advisor`; empty: it is one.
std::string refuse_as_light_advisor(std::string_view text);
/// Whether the text names a scripted controller of traffic lights.
bool sets_signals(std::string_view text);

/// Whether an advisor commands vehicles: it is neither empty nor `none`.
bool commands_vehicles(std::string_view advisor);

/// The commands that a controller gives to vehicles.
std::vector<std::string_view> commands_of(const ControllerSpec& spec);

}  // namespace traffic::config
