/// Memory for the activations of the networks on the CPU. pooled_empty() makes tensors whose memory
/// later tensors reuse. Scratch gives a thread memory for intermediate results.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <cstdint>

#include "kernels/kernels.h"

namespace traffic::model {

/// The type of a tensor whose elements the kernels treat as T.
template <typename T>
inline constexpr at::ScalarType kScalarType = at::kFloat;
template <>
inline constexpr at::ScalarType kScalarType<kernels::Bf16> = at::kBFloat16;

/// Uninitialised CPU tensor of type T, 64-byte aligned. Its memory returns to the pool when the
/// tensor is destroyed. Thread-safe.
template <typename T>
at::Tensor pooled_empty(at::IntArrayRef sizes);

/// Pointer to the elements of a tensor, which the caller may change.
template <typename T>
T* data(const at::Tensor& tensor) {
  return static_cast<T*>(tensor.mutable_data_ptr());
}

/// Scratch memory of the calling thread. take() gives out one array after the other. The destructor
/// takes back all arrays that were taken since the construction. Objects may be nested in scopes.
class Scratch {
 public:
  Scratch();
  ~Scratch();
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  /// Returns an uninitialised, 64-byte aligned array.
  template <typename T>
  T* take(std::int64_t count) {
    return static_cast<T*>(take_bytes(static_cast<std::size_t>(count) * sizeof(T)));
  }

 private:
  static void* take_bytes(std::size_t bytes);

  std::size_t block_;  ///< the thread's block in use at the construction
  std::size_t used_;   ///< bytes of that block that were taken at the construction
};

}  // namespace traffic::model
