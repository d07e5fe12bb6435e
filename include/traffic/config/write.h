/// Writes a Config as text, and as a hash for comparisons.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "traffic/config/config.h"
#include "traffic/config/load.h"

namespace traffic::config {

/// Every key with its value; load_config reads it back to the same Config.
std::string to_toml(const Config& config);

/// All phases: first the values that they share, then a table for each phase with its own values.
/// load_plan reads the text back to the same Plan.
std::string to_toml(const Plan& plan);

/// Dotted key -> value in TOML syntax, e.g. "train.epochs" -> "50", "run.name" -> "\"traffic\"".
std::map<std::string, std::string> flatten(const Config& config);

/// A hash of the [model] table; equal hashes mean that the parameters of one fit the other.
std::uint64_t model_hash(const Config& config);

}  // namespace traffic::config
