/// Normalisation of features for the command data_prep normalize: rules from the command line, and
/// the constants (offset and scale) that are computed for them from the training split.
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
  kMinMax,     ///< scales values to [0, 1]: offset = minimum, scale = range
  kZScore,     ///< scales values to mean 0 and standard deviation 1
  kClamp,      ///< limits values to [low, high] and scales them to [-1, 1]
  kSineCosine  ///< computes the features time_sin and time_cos from frames/time_s
};

struct NormaliseRule {
  std::string feature;  ///< name of a node or edge feature; "time" for kSineCosine
  NormaliseBy by = NormaliseBy::kMinMax;
  double low = 0;          ///< for kClamp
  double high = 0;         ///< for kClamp
  double period_s = 3600;  ///< for kSineCosine
};

/// Parses a rule such as "position_m=minmax", "speed_mps=zscore", "acceleration_mps2=clamp:-5:5" or
/// "time=sincos:3600".
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
  bool of_edges = false;   ///< whether the feature is an edge feature
  std::size_t column = 0;  ///< column of the feature; of time_sin for kSineCosine
  std::size_t cosine = 0;  ///< column of time_cos for kSineCosine
  float offset = 0;
  float scale = 1;
  data::Moments before;  ///< moments of the feature in the training split

  /// Changes the values of a frame for kClamp and kSineCosine.
  /// @return the number of values that kClamp has changed
  std::int64_t apply(scene::GraphFrame& frame, std::size_t node_width) const;
};

/// Computes the constants of the rules.
/// @throws ConfigError if a feature does not exist or is constant, or if the training split is
///   empty
[[nodiscard]] std::vector<FittedRule> fit(const std::vector<NormaliseRule>& rules,
                                          const data::FileInfo& info, const FittedMoments& moments);

/// Sets offset and scale of the features in the attributes of a file.
void set_constants(const std::vector<FittedRule>& rules, data::FileInfo& info);

/// The content of statistics.json: the method, the constants and the moments of each feature.
[[nodiscard]] nlohmann::json constants_json(const std::vector<FittedRule>& rules);

}  // namespace traffic::data_prep
