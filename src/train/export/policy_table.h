/// The table beside exported networks: names, units, scaling and ranges of their inputs, and the
/// meaning of their outputs.
#pragma once

#include <nlohmann/json.hpp>

#include "export/plain_network.h"
#include "policy/decides.h"
#include "policy/light_policy.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// The entry of the vehicles' policy in policy.json.
/// @param memory the network of the memory; null if the policy reads no latents
/// @param log_std logarithm of the standard deviation of continuous commands
nlohmann::ordered_json vehicle_table(const config::Config& config, const PlainNetwork& network,
                                     const PlainNetwork* memory, Decides decides, float log_std);
/// The entry of the lights' policy in policy.json.
nlohmann::ordered_json light_table(const config::Config& config, const PlainNetwork& network,
                                   Decides decides, const LightKind& kind);

/// A number of a float32 value that is printed with as few digits as identify the value.
double short_number(float value);

}  // namespace traffic::train
