/// The schema of the configuration has a row for each key (schema.h). This file has helpers for
/// writing rows, and the functions that return the rows of each table.
#pragma once

#include <string_view>
#include <vector>

#include "traffic/config/schema.h"

namespace traffic::config {

/// Writes the key and the accessor of a row from one token, so that they cannot disagree.
#define TRAFFIC_KEY(path) \
  .key = #path, .field = [](Config& config) -> Field { return &config.path; }

/// The range of numbers above `low`, up to and including `high`.
inline Range above(double low, double high) { return {.low = low, .high = high, .low_open = true}; }
/// The range of numbers from 0 to less than 1.
inline Range below_one() { return {.low = 0, .high = 1, .high_open = true}; }

inline std::string refuse_empty(std::string_view text) {
  return text.empty() ? "expected a text that is not empty" : "";
}

std::vector<Row> data_rows();
std::vector<Row> augmentation_rows();
std::vector<Row> loss_scale_rows();
std::vector<Row> gpu_rows();
std::vector<Row> memory_rows();
std::vector<Row> env_rows();
std::vector<Row> rollout_rows();
std::vector<Row> vehicles_rows();
std::vector<Row> training_rows();
std::vector<Row> episodes_rows();
std::vector<Row> imitation_rows();
std::vector<Row> ppo_rows();
std::vector<Row> lights_rows();
std::vector<Row> lights_ppo_rows();
std::vector<Row> lagrange_rows();
std::vector<Row> evaluation_rows();
std::vector<Row> search_rows();

}  // namespace traffic::config
