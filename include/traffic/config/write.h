/// Writes a Config as TOML, as a table of keys and values, and as a hash for comparisons.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "traffic/config/config.h"
#include "traffic/config/load.h"

namespace traffic::config {

/// Writes every key with its value; load_config() reads the text back to the same Config.
std::string to_toml(const Config& config);

/// Writes all phases of a plan: first the values that they share, then tables of each phase with
/// its own values. load_plan() reads the text back to the same Plan.
std::string to_toml(const Plan& plan);

/// Maps each dotted key to its value in TOML syntax, e.g. "train.epochs" -> "50", "run.name" ->
/// "\"traffic\"".
std::map<std::string, std::string> flatten(const Config& config);

/// A hash of the [model] table. Weights that were trained with one configuration fit every
/// configuration with the same hash.
std::uint64_t model_hash(const Config& config);

}  // namespace traffic::config
