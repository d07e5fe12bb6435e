// Compiled with -O3 -ffp-contract=off: vectorised, and without fused multiply-adds, which would
// make the bits depend on the processor.
#include "reduce_kernels.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <cstring>

#include "traffic/core/error.h"
#include "traffic/core/vectorised.h"

namespace traffic::comm {
namespace {

/// Elements that are reduced at a time, so that the running sum stays in the first-level cache.
constexpr std::int64_t kBlock = 512;
/// Independent sums of squares: two registers of the widest vector unit.
constexpr std::int64_t kLanes = 16;
using Lanes = std::array<double, kLanes>;

TRAFFIC_VECTORISED void copy(const float* __restrict source, float* __restrict destination,
                             std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) destination[i] = source[i];
}

TRAFFIC_VECTORISED void copy_scaled(const float* __restrict source, float scale,
                                    float* __restrict destination, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) destination[i] = scale * source[i];
}

TRAFFIC_VECTORISED void add(const float* __restrict source, float* __restrict sum,
                            std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += source[i];
}

TRAFFIC_VECTORISED void add_scaled(const float* __restrict source, float scale,
                                   float* __restrict sum, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) sum[i] += scale * source[i];
}

TRAFFIC_VECTORISED void add_squares(const float* __restrict values, std::int64_t count,
                                    double* __restrict lanes) {
  std::int64_t i = 0;
  for (; i + kLanes <= count; i += kLanes) {
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = values[i + lane];
      lanes[lane] += value * value;
    }
  }
  for (; i < count; ++i) {
    const double value = values[i];
    lanes[0] += value * value;
  }
}

// Two ranks in place, the usual case: every element passes through registers once, which is half
// again as fast as through a block.

TRAFFIC_VECTORISED void add_pair(float* __restrict a, float* __restrict b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = a[i] + b[i];
    a[i] = sum;
    b[i] = sum;
  }
}

/// For a count that is a multiple of kLanes.
TRAFFIC_VECTORISED void add_scaled_pair(float* __restrict a, float scale_a, float* __restrict b,
                                        float scale_b, std::int64_t count,
                                        double* __restrict lanes) {
  for (std::int64_t i = 0; i < count; i += kLanes) {
    float sum[kLanes];
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      sum[lane] = scale_a * a[i + lane] + scale_b * b[i + lane];
    }
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      a[i + lane] = sum[lane];
      b[i + lane] = sum[lane];
    }
    for (std::int64_t lane = 0; lane < kLanes; ++lane) {
      const double value = sum[lane];
      lanes[lane] += value * value;
    }
  }
}

/// NaN wins over numbers, as in torch.
template <typename T>
void combine(const T& value, T& sum, ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      sum = static_cast<T>(sum + value);
      break;
    case ReduceOp::kMax:
      sum = (value > sum || value != value) ? value : sum;
      break;
    case ReduceOp::kMin:
      sum = (value < sum || value != value) ? value : sum;
      break;
  }
}

template <typename Source, typename Destination>
bool is_pair_in_place(std::span<Source* const> sources,
                      std::span<Destination* const> destinations) {
  return sources.size() == 2 && destinations.size() == 2 && sources[0] == destinations[0] &&
         sources[1] == destinations[1];
}

/// Stored: type in memory; Sum: type of the arithmetic.
template <typename Stored, typename Sum>
void reduce_typed(std::span<const std::byte* const> sources,
                  std::span<std::byte* const> destinations, std::int64_t count, ReduceOp op) {
  std::array<Sum, kBlock> sum;
  std::array<Stored, kBlock> result;
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, count - begin);
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const Stored* source = reinterpret_cast<const Stored*>(sources[s]) + begin;
      if (s == 0) {
        for (std::int64_t i = 0; i < n; ++i)
          sum[static_cast<std::size_t>(i)] = static_cast<Sum>(source[i]);
        continue;
      }
      for (std::int64_t i = 0; i < n; ++i) {
        combine(static_cast<Sum>(source[i]), sum[static_cast<std::size_t>(i)], op);
      }
    }
    for (std::int64_t i = 0; i < n; ++i) {
      result[static_cast<std::size_t>(i)] = static_cast<Stored>(sum[static_cast<std::size_t>(i)]);
    }
    for (std::byte* destination : destinations) {
      std::memcpy(reinterpret_cast<Stored*>(destination) + begin, result.data(),
                  static_cast<std::size_t>(n) * sizeof(Stored));
    }
  }
}

/// The usual type with vector loops.
void sum_floats(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
                std::int64_t count) {
  if (is_pair_in_place(sources, destinations)) {
    return add_pair(reinterpret_cast<float*>(destinations[0]),
                    reinterpret_cast<float*>(destinations[1]), count);
  }
  alignas(64) std::array<float, kBlock> sum;
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, count - begin);
    copy(reinterpret_cast<const float*>(sources[0]) + begin, sum.data(), n);
    for (const std::byte* source : sources.subspan(1)) {
      add(reinterpret_cast<const float*>(source) + begin, sum.data(), n);
    }
    for (std::byte* destination : destinations) {
      copy(sum.data(), reinterpret_cast<float*>(destination) + begin, n);
    }
  }
}

double total(const Lanes& lanes) {
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

}  // namespace

bool can_reduce(c10::ScalarType dtype) {
  switch (dtype) {
    case c10::ScalarType::Float:
    case c10::ScalarType::Double:
    case c10::ScalarType::Half:
    case c10::ScalarType::BFloat16:
    case c10::ScalarType::Int:
    case c10::ScalarType::Long:
      return true;
    default:
      return false;
  }
}

void reduce(std::span<const std::byte* const> sources, std::span<std::byte* const> destinations,
            std::int64_t count, c10::ScalarType dtype, ReduceOp op) {
  switch (dtype) {
    case c10::ScalarType::Float:
      if (op == ReduceOp::kSum) return sum_floats(sources, destinations, count);
      return reduce_typed<float, float>(sources, destinations, count, op);
    case c10::ScalarType::Double:
      return reduce_typed<double, double>(sources, destinations, count, op);
    case c10::ScalarType::Half:
      return reduce_typed<c10::Half, float>(sources, destinations, count, op);
    case c10::ScalarType::BFloat16:
      return reduce_typed<c10::BFloat16, float>(sources, destinations, count, op);
    case c10::ScalarType::Int:
      return reduce_typed<std::int32_t, std::int32_t>(sources, destinations, count, op);
    case c10::ScalarType::Long:
      return reduce_typed<std::int64_t, std::int64_t>(sources, destinations, count, op);
    default:
      TRAFFIC_CHECK(false, "no reduction for type {}", c10::toString(dtype));
  }
}

double reduce_scaled(std::span<const float* const> sources, std::span<const float> scales,
                     std::span<float* const> destinations, std::int64_t count) {
  Lanes lanes{};
  std::int64_t begin = 0;
  if (is_pair_in_place(sources, destinations)) {
    begin = count / kLanes * kLanes;
    add_scaled_pair(destinations[0], scales[0], destinations[1], scales[1], begin, lanes.data());
  }
  alignas(64) std::array<float, kBlock> sum;
  for (; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, count - begin);
    copy_scaled(sources[0] + begin, scales[0], sum.data(), n);
    for (std::size_t s = 1; s < sources.size(); ++s) {
      add_scaled(sources[s] + begin, scales[s], sum.data(), n);
    }
    for (float* destination : destinations) copy(sum.data(), destination + begin, n);
    add_squares(sum.data(), n, lanes.data());
  }
  return total(lanes);
}

double sum_of_squares(const float* values, std::int64_t count) {
  Lanes lanes{};
  add_squares(values, count, lanes.data());
  return total(lanes);
}

}  // namespace traffic::comm
