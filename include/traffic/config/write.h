/// A Config as text and as numbers that tell whether two are the same.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "traffic/config/config.h"
#include "traffic/config/load.h"

namespace traffic::config {

/// Every key with its value; load_config reads it back to the same Config.
std::string to_toml(const Config& config);

/// The same of all phases: what they share, then a table for what a phase has otherwise. load_plan
/// reads it back to the same Plan.
std::string to_toml(const Plan& plan);

/// Dotted key -> value in TOML syntax, e.g. "train.epochs" -> "50", "run.name" -> "\"traffic\"".
std::map<std::string, std::string> flatten(const Config& config);

/// Equal if the parameters of one fit the model of the other: a hash of the [model] table.
std::uint64_t model_hash(const Config& config);

}  // namespace traffic::config
