/// Controls the pool of CPU memory that the networks reuse from step to step.
#pragma once

#include <cstdint>

namespace traffic::model {

/// Lets all CPU tensors use the memory pool. Without this call only the activations of fused layers
/// use it. With the pool, a step reuses the memory pages of the previous step. This saves time even
/// for small tensors: when the controller decides for a few vehicles, malloc and free would take a
/// tenth of the time.
void pool_all_tensors();

/// Returns pooled memory that no tensor uses to the operating system. @return number of bytes
/// returned
std::int64_t release_cached_memory();

}  // namespace traffic::model
