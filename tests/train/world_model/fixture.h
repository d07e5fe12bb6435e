/// A configuration with a small world model and short windows, for the tests in this folder.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/config/config.h"

namespace traffic::train::testing {

inline constexpr std::int64_t kFrames = 4;
inline constexpr std::int64_t kHorizon = 3;

inline config::Config small_config(const std::string& precision) {
  config::Config config;
  config.data.history_frames = kFrames;
  config.data.horizon_frames = kHorizon;
  config.model.hidden_dim = 32;
  config.model.gnn_layers = 2;
  config.model.num_heads = 2;
  config.model.lstm_hidden = 48;
  config.model.lstm_layers = 1;
  config.model.latent_dim = 16;
  config.train.precision = precision;
  return config;
}

}  // namespace traffic::train::testing
