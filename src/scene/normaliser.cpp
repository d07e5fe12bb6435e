// Normalisers, which scale features for models, and the normaliser of each feature table.
#include "traffic/scene/normaliser.h"

namespace traffic::scene {

Normaliser::Normaliser(std::span<const FeatureSpec> features) {
  for (const FeatureSpec& feature : features) {
    offset_.push_back(feature.offset);
    scale_.push_back(feature.scale);
  }
}

const Normaliser& node_normaliser() {
  static const Normaliser normaliser(node_features());
  return normaliser;
}

const Normaliser& edge_normaliser() {
  static const Normaliser normaliser(edge_features());
  return normaliser;
}

const Normaliser& global_normaliser() {
  static const Normaliser normaliser(global_features());
  return normaliser;
}

}  // namespace traffic::scene
