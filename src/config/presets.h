/// Presets are named sets of values for a purpose, such as `test` or `memory`. --preset chooses
/// one. Each training has its own values.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "traffic/config/trainings.h"

namespace traffic::config {

/// The value that a preset gives to a key.
struct PresetValue {
  std::string_view key;
  std::string_view value;  ///< in TOML syntax
};

/// The names of all presets.
std::span<const std::string_view> preset_names();
/// The purpose of a preset in one sentence; the name must be one of preset_names().
std::string_view preset_help(std::string_view preset);
/// The values of a preset in a training; the name must be one of preset_names().
std::vector<PresetValue> preset_values(std::string_view preset, const TrainingFacts& training);

}  // namespace traffic::config
