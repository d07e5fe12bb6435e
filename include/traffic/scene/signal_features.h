/// Tables of the features that a policy for traffic lights observes: name, unit and scale of each.
/// signal_view.h and signal_graph.h compute the features.
#pragma once

#include <limits>
#include <span>
#include <string_view>

namespace traffic::scene {

/// A feature of an option of a light, or of a pair of neighbouring lights.
struct SignalFeatureSpec {
  std::string_view name;
  std::string_view unit;  ///< "1" for a number without unit
  double scale = 1.0;     ///< see scaled()
  std::string_view help = {};
  double low = 0.0;                                       ///< lowest valid value
  double high = std::numeric_limits<double>::infinity();  ///< highest valid value
  double cap = std::numeric_limits<double>::infinity();   ///< larger values count as this one
  bool is_logarithmic = false;

  /// Input of a model for a value in physical units: min(value, cap) / scale, or
  /// log(1 + min(value, cap)) / scale if the feature is logarithmic.
  [[nodiscard]] double scaled(double value) const;
  /// The inverse of scaled().
  [[nodiscard]] double unscaled(double scaled_value) const;
};

/// The features of an option, in the order of signal_features().
std::span<const SignalFeatureSpec> signal_feature_specs();
/// The features of a pair of lights, in the order of signal_edge_features().
std::span<const SignalFeatureSpec> signal_edge_feature_specs();

}  // namespace traffic::scene
