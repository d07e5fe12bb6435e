/// A Config as text and as numbers that tell whether two are the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "traffic/config/config.h"

namespace traffic::config {

/// Every key with its value; load_config reads it back to the same Config.
std::string to_toml(const Config& config);

/// Dotted key -> value in TOML syntax, e.g. "train.epochs" -> "50", "run.name" -> "\"traffic\"".
std::map<std::string, std::string> flatten(const Config& config);

/// Equal if the parameters of one fit the model of the other: a hash of the [model] table.
std::uint64_t model_hash(const Config& config);
/// Equal if every value is the same.
std::uint64_t config_hash(const Config& config);

}  // namespace traffic::config
