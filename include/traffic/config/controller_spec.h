/// Scripted controllers by name, with parameters: "meter", "yield(lead_s=12, top=10)". The table of
/// them stands here, so that a configuration can be checked before anything runs; what they do is
/// in traffic/scene/controller.h.
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
  double value;  ///< without another
  Range range;
  std::string_view help;
};

struct ControllerKind {
  std::string_view name;
  std::string_view help;
  std::vector<ControllerParameter> parameters;
  bool sets_signals = false;  ///< traffic lights, and no vehicles

  /// Null when there is none of that name.
  [[nodiscard]] const ControllerParameter* parameter(std::string_view wanted) const;
};

/// All that there are.
std::span<const ControllerKind> controller_kinds();

/// A controller and the parameters that are not left to their defaults.
struct ControllerSpec {
  std::string name;
  std::map<std::string, double, std::less<>> values{};

  /// Of a parameter that the kind has.
  [[nodiscard]] double get(std::string_view parameter) const;
  /// "yield(lead_s=12, top=10)"; parsing it gives the same.
  [[nodiscard]] std::string text() const;
};

/// @throws ConfigError naming what there is, when a name or a value is not among it
ControllerSpec parse_controller(std::string_view text);
/// Why a text is refused to be imitated; empty if it is a scripted controller that always does the
/// same in the same traffic.
std::string refuse_to_imitate(std::string_view text);

/// "greedy+yield": the controllers that act together, in their order; of one name that one. Names
/// of files may have a + in them: it parts only where a controller's name follows.
std::vector<std::string_view> controller_parts(std::string_view text);
/// Of all these texts, one after the other.
std::vector<std::string> controller_parts(std::span<const std::string> texts);

/// Whether it sets traffic lights and no vehicles; of what is no scripted controller: false.
bool sets_signals(std::string_view text);

/// Whether a vehicles.advisor commands anybody: it is neither empty nor `none`.
bool commands_vehicles(std::string_view advisor);

/// Which of vehicles.commands a controller asks for.
std::vector<std::string_view> commands_of(const ControllerSpec& spec);

}  // namespace traffic::config
