/// Presets: sets of values that are given together, by purpose and phase.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace traffic::config {

struct PresetValue {
  std::string_view key;
  std::string_view value;  ///< in TOML syntax
};

std::span<const std::string_view> preset_names();
/// One sentence about what a preset is for; the name must be one of preset_names().
std::string_view preset_help(std::string_view preset);
/// What a preset sets in a phase; the name must be one of preset_names().
std::vector<PresetValue> preset_values(std::string_view preset, std::int64_t phase);

}  // namespace traffic::config
