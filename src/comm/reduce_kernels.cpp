// Sums, maxima and minima of arrays (reduce_kernels.h). CMakeLists.txt compiles this file with -O3
// -ffp-contract=off. The loops are vectorised, but the compiler may not use fused multiply-adds,
// which would make the bits depend on the processor.
#include "reduce_kernels.h"

#include <c10/util/BFloat16.h>
#include <c10/util/Half.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <numeric>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/core/vectorised.h"

namespace traffic::comm {
namespace {

/// Number of elements that are reduced at a time. The partial sums of a block fit the L1 cache.
constexpr std::int64_t kBlock = 512;
/// Number of independent sums of squares (float64). They fill two of the widest vector registers.
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

// The next two functions handle the usual case: two ranks, reduced in place. Every element passes
// through registers once, which is 1.5 times as fast as working in blocks.

TRAFFIC_VECTORISED void add_pair(float* __restrict a, float* __restrict b, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float sum = a[i] + b[i];
    a[i] = sum;
    b[i] = sum;
  }
}

/// @param count a multiple of kLanes
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

/// Combines a value with a partial result. The maximum and the minimum of NaN and a number are NaN,
/// as in torch.
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

double total(const Lanes& lanes) {
  double sum = 0.0;
  for (const double lane : lanes) sum += lane;
  return sum;
}

/// A stack of the partial sums of a block, which are merged in the order of Merges (sum_plan.h).
template <typename Sum>
struct PartialSums {
  static constexpr std::size_t kDepth = 24;  ///< maximum depth of a tree: there are fewer than 2^23
                                             ///< ranks
  std::size_t depth = 0;
  alignas(64) std::array<std::array<Sum, kBlock>, kDepth> levels;

  Sum* push() { return levels[depth++].data(); }
  Sum* top() { return levels[depth - 1].data(); }
  /// @param add called with the last two partial sums as (from, to); must add `from` to `to`
  template <typename Add>
  void merge(int times, const Add& add) {
    for (; times > 0; --times) {
      const Sum* last = top();
      --depth;
      add(last, top());
    }
  }
};

/// @tparam Stored type of the elements in memory
/// @tparam Sum type in which the elements are added
template <typename Stored, typename Sum>
void reduce_typed(const Reduction& what, ReduceOp op) {
  PartialSums<Sum> partial;
  std::array<Stored, kBlock> result;
  for (std::int64_t begin = 0; begin < what.count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, what.count - begin);
    const auto take_in = [&](const auto* from, Sum* sum) {
      for (std::int64_t i = 0; i < n; ++i) {
        combine(static_cast<Sum>(from[i]), sum[i], op);
        sum[i] = static_cast<Sum>(static_cast<Stored>(sum[i]));
      }
    };
    partial.depth = 0;
    for (std::size_t s = 0; s < what.sources.size(); ++s) {
      const Stored* source = reinterpret_cast<const Stored*>(what.sources[s]) + begin;
      if (what.merges[s] == 0) {
        Sum* sum = partial.push();
        for (std::int64_t i = 0; i < n; ++i) sum[i] = static_cast<Sum>(source[i]);
      } else {
        take_in(source, partial.top());
        partial.merge(what.merges[s] - 1, take_in);
      }
    }
    const Sum* sum = partial.top();
    for (std::int64_t i = 0; i < n; ++i) {
      result[static_cast<std::size_t>(i)] = static_cast<Stored>(sum[i]);
    }
    for (std::byte* destination : what.destinations) {
      std::memcpy(reinterpret_cast<Stored*>(destination) + begin, result.data(),
                  static_cast<std::size_t>(n) * sizeof(Stored));
    }
  }
}

/// Sums float32, the usual type, with vectorised loops.
void sum_floats(const Reduction& what) {
  const auto& [sources, merges, destinations, count] = what;
  if (is_pair_in_place(sources, destinations)) {
    return add_pair(reinterpret_cast<float*>(destinations[0]),
                    reinterpret_cast<float*>(destinations[1]), count);
  }
  PartialSums<float> partial;
  for (std::int64_t begin = 0; begin < count; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, what.count - begin);
    const auto add_block = [n](const float* from, float* to) { add(from, to, n); };
    partial.depth = 0;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      const float* source = reinterpret_cast<const float*>(sources[s]) + begin;
      if (merges[s] == 0) {
        copy(source, partial.push(), n);
      } else {
        add(source, partial.top(), n);
        partial.merge(merges[s] - 1, add_block);
      }
    }
    for (std::byte* destination : destinations) {
      copy(partial.top(), reinterpret_cast<float*>(destination) + begin, n);
    }
  }
}

/// Computes elements [begin, end) of reduce_scaled(), which are one block of kSquareBlock elements
/// or less.
/// @return the sum of their squares
double reduce_scaled_block(const ScaledReduction& what, std::int64_t begin, std::int64_t end,
                           PartialSums<float>& partial) {
  const auto& [sources, scales, merges, destinations, count] = what;
  Lanes lanes{};
  if (is_pair_in_place(sources, destinations)) {
    const std::int64_t paired = (end - begin) / kLanes * kLanes;
    add_scaled_pair(destinations[0] + begin, scales[0], destinations[1] + begin, scales[1], paired,
                    lanes.data());
    begin += paired;
  }
  for (; begin < end; begin += kBlock) {
    const std::int64_t n = std::min(kBlock, end - begin);
    const auto add_block = [n](const float* from, float* to) { add(from, to, n); };
    partial.depth = 0;
    for (std::size_t s = 0; s < sources.size(); ++s) {
      if (merges[s] == 0) {
        copy_scaled(sources[s] + begin, scales[s], partial.push(), n);
      } else {
        add_scaled(sources[s] + begin, scales[s], partial.top(), n);
        partial.merge(merges[s] - 1, add_block);
      }
    }
    for (float* destination : destinations) copy(partial.top(), destination + begin, n);
    add_squares(partial.top(), n, lanes.data());
  }
  return total(lanes);
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

void reduce(const Reduction& what, c10::ScalarType dtype, ReduceOp op) {
  switch (dtype) {
    case c10::ScalarType::Float:
      if (op == ReduceOp::kSum) return sum_floats(what);
      return reduce_typed<float, float>(what, op);
    case c10::ScalarType::Double:
      return reduce_typed<double, double>(what, op);
    case c10::ScalarType::Half:
      return reduce_typed<c10::Half, float>(what, op);
    case c10::ScalarType::BFloat16:
      return reduce_typed<c10::BFloat16, float>(what, op);
    case c10::ScalarType::Int:
      return reduce_typed<std::int32_t, std::int32_t>(what, op);
    case c10::ScalarType::Long:
      return reduce_typed<std::int64_t, std::int64_t>(what, op);
    default:
      TRAFFIC_CHECK(false, "no reduction for type {}", c10::toString(dtype));
  }
}

void reduce_scaled(const ScaledReduction& what, std::span<double> squares) {
  PartialSums<float> partial;
  for (std::size_t block = 0; block < squares.size(); ++block) {
    const auto begin = static_cast<std::int64_t>(block) * kSquareBlock;
    const std::int64_t end = std::min(begin + kSquareBlock, what.count);
    squares[block] = reduce_scaled_block(what, begin, end, partial);
  }
}

void sum_squares(const float* values, std::int64_t count, std::span<double> squares) {
  for (std::size_t block = 0; block < squares.size(); ++block) {
    const auto begin = static_cast<std::int64_t>(block) * kSquareBlock;
    Lanes lanes{};
    add_squares(values + begin, std::min(kSquareBlock, count - begin), lanes.data());
    squares[block] = total(lanes);
  }
}

double sum_of_squares(const float* values, std::int64_t count) {
  std::vector<double> squares(static_cast<std::size_t>(num_square_blocks(count)));
  sum_squares(values, count, squares);
  return std::accumulate(squares.begin(), squares.end(), 0.0);
}

}  // namespace traffic::comm
