/// Rules for normalising features, and their constants, which are fitted to data.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "traffic/data/reader.h"
#include "traffic/data/statistics.h"
#include "traffic/scene/frame.h"

namespace traffic::data_prep {

enum class NormaliseBy : std::uint8_t {
  kMinMax,     ///< to [0, 1]: offset = minimum, scale = range
  kZScore,     ///< mean 0, deviation 1
  kClamp,      ///< values are limited to [low, high] and scaled to [-1, 1]
  kSineCosine  ///< time_sin and time_cos recomputed from frames/time_s; period in seconds
};

struct NormaliseRule {
  std::string feature;  ///< feature of nodes or edges; "time" with kSineCosine
  NormaliseBy by = NormaliseBy::kMinMax;
  double low = 0;
  double high = 0;
  double period_s = 3600;
};

/// Parses "position_m=minmax", "speed_mps=zscore", "acceleration_mps2=clamp:-5:5",
/// "time=sincos:3600"
/// @throws ConfigError with the found and the expected text
[[nodiscard]] NormaliseRule parse_rule(const std::string& text);

/// Moments of the features in the training split.
struct FittedMoments {
  std::vector<data::Moments> nodes;
  std::vector<data::Moments> edges;

  void add(const data::DatasetReader& file);
  void merge(const FittedMoments& other);
};

/// A rule with its constants.
struct FittedRule {
  NormaliseRule rule;
  bool of_edges = false;
  std::size_t column = 0;  ///< column of time_sin with kSineCosine
  std::size_t cosine = 0;  ///< column of time_cos with kSineCosine
  float offset = 0;
  float scale = 1;
  data::Moments before;  ///< moments of the training split

  /// Changes the values of a frame. @return the number of clamped values
  std::int64_t apply(scene::GraphFrame& frame, std::size_t node_width) const;
};

/// @throws ConfigError if a feature does not exist or is constant
[[nodiscard]] std::vector<FittedRule> fit(const std::vector<NormaliseRule>& rules,
                                          const data::FileInfo& info, const FittedMoments& moments);

/// Sets offset and scale in the tables of a file.
void set_constants(const std::vector<FittedRule>& rules, data::FileInfo& info);

/// The content of statistics.json: for each feature the method, the constants and the moments
/// behind them.
[[nodiscard]] nlohmann::json constants_json(const std::vector<FittedRule>& rules);

}  // namespace traffic::data_prep
