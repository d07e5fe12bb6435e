/// The element types and the maximum number of dimensions of tensors that a checkpoint can hold.
#pragma once

#include <c10/core/ScalarType.h>

#include <array>

namespace traffic::checkpoint {

inline constexpr int kMaxDims = 8;

inline constexpr std::array kDtypes = {at::kFloat, at::kDouble, at::kLong,
                                       at::kInt,   at::kByte,   at::kBool};

constexpr bool is_supported(at::ScalarType dtype) {
  for (const at::ScalarType known : kDtypes) {
    if (known == dtype) return true;
  }
  return false;
}

}  // namespace traffic::checkpoint
