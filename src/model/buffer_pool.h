/// Memory for activations: tensors whose pages the next step reuses, and scratch memory of one
/// thread.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"

namespace traffic::model {

template <typename T>
inline constexpr at::ScalarType kScalarType = at::kFloat;
template <>
inline constexpr at::ScalarType kScalarType<kernels::Bf16> = at::kBFloat16;

/// Uninitialised CPU tensor of type T, 64-byte aligned. Its memory returns to the pool when the
/// tensor is destroyed. Thread-safe.
template <typename T>
at::Tensor pooled_empty(at::IntArrayRef sizes);

template <typename T>
T* data(const at::Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_data_ptr());
}

/// Scratch memory of the calling thread. Pieces are taken one by one and all returned at the end of
/// the scope. Scopes nest.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Takes an uninitialised, 64-byte aligned piece.
  template <typename T>
  T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

 private:
  static void* take_bytes(std::size_t bytes);

  std::size_t block_;
  std::size_t used_;
};

}  // namespace traffic::model
