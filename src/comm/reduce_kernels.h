/// The arithmetic of reductions, on plain memory. The result for an element depends on the order of
/// the sources only, not on the machine's vector width or on how the array was cut in pieces.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "traffic/comm/communicator.h"

namespace traffic::comm {

/// float32, float64, float16, bfloat16, int32, int64
bool can_reduce(c10::ScalarType dtype);

/// destination[i] = op over sources in their order, for every destination. Destinations may be
/// sources. float16 and bfloat16 are reduced in float32 and rounded once.
/// @param count elements of type dtype in each array
void reduce(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
            std::int64_t count, c10::ScalarType dtype, ReduceOp op);

/// destination[i] = sum of scales[s] * sources[s][i] in the order of s, for every destination;
/// destinations may be sources.
/// @return sum of squares of the result in float64
double reduce_scaled(std::span<const float* const> sources, std::span<const float> scales,
                     std::span<float* const> destinations, std::int64_t count);

/// In float64, in an order that depends on count only.
double sum_of_squares(const float* values, std::int64_t count);

}  // namespace traffic::comm
