/// Rules by which features are normalised, and the constants that data give them.
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
  kMinMax,     ///< to [0, 1]: offset = least value, scale = range
  kZScore,     ///< mean 0, deviation 1
  kClamp,      ///< values cut to [low, high], which becomes [-1, 1]
  kSineCosine  ///< time_sin and time_cos computed anew from frames/time_s, period in seconds
};

struct NormaliseRule {
  std::string feature;  ///< of nodes or edges; "time" with kSineCosine
  NormaliseBy by = NormaliseBy::kMinMax;
  double low = 0;
  double high = 0;
  double period_s = 3600;
};

/// "position_m=minmax", "speed_mps=zscore", "acceleration_mps2=clamp:-5:5", "time=sincos:3600"
/// @throws ConfigError naming what was found and expected
[[nodiscard]] NormaliseRule parse_rule(const std::string& text);

/// Those of the training split.
struct FittedMoments {
  std::vector<data::Moments> nodes;
  std::vector<data::Moments> edges;

  void add(const data::DatasetReader& file);
  void merge(const FittedMoments& other);
};

/// One rule with its constants, ready to be applied.
struct FittedRule {
  NormaliseRule rule;
  bool of_edges = false;
  std::size_t column = 0;  ///< of time_sin with kSineCosine
  std::size_t cosine = 0;  ///< column of time_cos with kSineCosine
  float offset = 0;
  float scale = 1;
  data::Moments before;  ///< of the training split

  /// Changes the values of a frame; @return how many were cut
  std::int64_t apply(scene::GraphFrame& frame, std::size_t node_width) const;
};

/// @throws ConfigError if a feature is not there, or has one value only
[[nodiscard]] std::vector<FittedRule> fit(const std::vector<NormaliseRule>& rules,
                                          const data::FileInfo& info, const FittedMoments& moments);

/// Offset and scale in the tables of a file.
void set_constants(const std::vector<FittedRule>& rules, data::FileInfo& info);

/// What statistics.json says: by feature, method, constants and the figures they come from.
[[nodiscard]] nlohmann::json constants_json(const std::vector<FittedRule>& rules);

}  // namespace traffic::data_prep
