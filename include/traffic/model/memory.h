/// Control of the memory that the model keeps between steps.
#pragma once

#include <cstdint>

namespace traffic::model {

/// Lets all CPU tensors use the memory pool that otherwise serves only the activations of fused
/// layers. With the pool, a step reuses the memory pages of the previous step. This matters for
/// small tensors, too: when the controller decides for a few vehicles, malloc and free take a tenth
/// of the time.
void pool_all_tensors();

/// Returns pooled memory that no tensor uses to the operating system. @return bytes returned
std::int64_t release_cached_memory();

}  // namespace traffic::model
