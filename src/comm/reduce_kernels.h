/// Sums, maxima and minima of arrays in CPU memory. MpiCommunicator and LeaderChannel do their
/// arithmetic with these functions. The result for an element depends only on the sources and the
/// order of their sums (Merges in sum_plan.h). It does not depend on the machine's vector width or
/// on how the array was cut into pieces.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "sum_plan.h"
#include "traffic/comm/communicator.h"

namespace traffic::comm {

/// Whether reduce() supports the type: float32, float64, float16, bfloat16, int32 and int64.
bool can_reduce(c10::ScalarType dtype);

/// The sources, order and destinations of a reduction.
struct Reduction {
  std::span<const std::byte* const> sources;
  const Merges& merges;                      ///< [sources] order of the sums
  std::span<std::byte* const> destinations;  ///< each receives the result; may be sources
  std::int64_t count = 0;                    ///< number of elements of type dtype in each array
};

/// Computes the reduction. For float16 and bfloat16 each sum of two values is computed in float32
/// and rounded.
void reduce(const Reduction& what, c10::ScalarType dtype, ReduceOp op);

/// A sum of float32 arrays in which each source is multiplied by a factor of its own.
struct ScaledReduction {
  std::span<const float* const> sources;
  std::span<const float> scales;         ///< [sources] factors
  const Merges& merges;                  ///< [sources] order of the sums
  std::span<float* const> destinations;  ///< each receives the result; may be sources
  std::int64_t count = 0;                ///< number of elements in each array
};

/// Sums of squares are computed for blocks of this many elements and then added in the order of the
/// blocks. So the bits do not depend on which rank summed which block.
inline constexpr std::int64_t kSquareBlock = std::int64_t{1} << 14;
inline std::int64_t num_square_blocks(std::int64_t count) {
  return (count + kSquareBlock - 1) / kSquareBlock;
}

/// Every destination becomes the sum of scales[s] * sources[s].
/// @param squares [num_square_blocks(count)] sums of squares of the result in float64
void reduce_scaled(const ScaledReduction& what, std::span<double> squares);

/// @param squares [num_square_blocks(count)] receives the sum of squares of each block
void sum_squares(const float* values, std::int64_t count, std::span<double> squares);

/// Sum of the squares of all values, in float64.
double sum_of_squares(const float* values, std::int64_t count);

}  // namespace traffic::comm
