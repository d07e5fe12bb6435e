/// Presets: sets of values that are given together, by purpose; each training has its own.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "traffic/config/trainings.h"

namespace traffic::config {

struct PresetValue {
  std::string_view key;
  std::string_view value;  ///< in TOML syntax
};

std::span<const std::string_view> preset_names();
/// One sentence about what a preset is for; the name must be one of preset_names().
std::string_view preset_help(std::string_view preset);
/// What a preset sets in a training; the name must be one of preset_names().
std::vector<PresetValue> preset_values(std::string_view preset, const TrainingFacts& training);

}  // namespace traffic::config
