// Presets: named sets of values for a purpose (presets.h).
#include "presets.h"

#include <algorithm>
#include <array>

#include "traffic/core/error.h"

namespace traffic::config {
namespace {

constexpr std::array<std::string_view, kNumPresets> kNames{"test", "normal", "max", "memory",
                                                           "vram"};

constexpr std::array<std::string_view, kNames.size()> kHelp{
    "Shows in minutes that a configuration works: small model, two epochs.",
    "Steady and reasonably fast.",
    "Uses the whole machine: large batches, more readers, larger buckets.",
    "For little main memory: smaller batches, few readers, a small cache.",
    "For little GPU memory: small batches, layers computed again in the backward pass.",
};

std::size_t index_of(std::string_view preset) {
  const auto found = std::find(kNames.begin(), kNames.end(), preset);
  TRAFFIC_CHECK(found != kNames.end(), "no preset '{}'", preset);
  return static_cast<std::size_t>(found - kNames.begin());
}

}  // namespace

std::span<const std::string_view> preset_names() { return kNames; }

std::string_view preset_help(std::string_view preset) { return kHelp.at(index_of(preset)); }

std::vector<PresetValue> preset_values(std::string_view preset, const TrainingFacts& training) {
  const std::size_t index = index_of(preset);
  std::vector<PresetValue> values;
  for (const PresetRow& row : training.presets) {
    if (!row.values.at(index).empty()) values.push_back({row.key, row.values.at(index)});
  }
  return values;
}

}  // namespace traffic::config
