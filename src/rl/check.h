/// Functions that check the shapes, types and devices of the tensors that callers pass to this
/// module.
#pragma once

#include <torch/types.h>

#include <string_view>

#include "traffic/core/error.h"

namespace traffic::rl {

/// Describes a tensor for an error message: "[2, 3] Float on cpu", or "undefined".
inline std::string describe(const torch::Tensor& x) {
  if (!x.defined()) return "undefined";
  std::ostringstream out;
  out << x.sizes() << ' ' << x.scalar_type() << " on " << x.device();
  return out.str();
}

/// Throws a ShapeError if x is undefined or has another shape, type or device.
inline void check_tensor(std::string_view name, const torch::Tensor& x, torch::IntArrayRef sizes,
                         torch::ScalarType type, torch::Device device) {
  if (x.defined() && x.sizes() == sizes && x.scalar_type() == type && x.device() == device) return;
  std::ostringstream expected;
  expected << sizes << ' ' << type << " on " << device;
  throw ShapeError("{} is {}, expected {}", name, describe(x), expected.str());
}

/// Throws a ShapeError if the shape, type or device of x differs from those of the tensor `model`.
inline void check_like(std::string_view name, const torch::Tensor& x, const torch::Tensor& model) {
  check_tensor(name, x, model.sizes(), model.scalar_type(), model.device());
}

/// Throws a ShapeError if x is not a floating-point tensor with this number of dimensions.
inline void check_floating(std::string_view name, const torch::Tensor& x, std::int64_t dims) {
  if (x.defined() && x.is_floating_point() && x.dim() == dims) return;
  throw ShapeError("{} is {}, expected {} dimension(s) of floating point", name, describe(x), dims);
}

}  // namespace traffic::rl
