/// Converts and checks the number formats of matrix products that the configuration names.
#pragma once

#include <c10/core/Device.h>
#include <c10/core/ScalarType.h>

#include <string>

namespace traffic::train {

/// The scalar type of a number format.
/// @param precision fp32, bf16 or fp16
c10::ScalarType compute_type(const std::string& precision);

/// Rejects fp16 on the CPU, which has no fast matrix products in that format.
/// @param key configuration key, for the message
/// @throws ConfigError if the format does not suit the device
void check_precision(const std::string& key, const std::string& precision, c10::Device device);

}  // namespace traffic::train
