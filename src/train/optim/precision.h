/// Number formats of matrix products, by their names in the configuration.
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
/// @throws ConfigError
void check_precision(const std::string& key, const std::string& precision, c10::Device device);

}  // namespace traffic::train
