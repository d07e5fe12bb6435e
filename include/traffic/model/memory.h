/// Control of the memory that the model keeps between steps.
#pragma once

#include <cstdint>

namespace traffic::model {

/// Lets all CPU tensors use the pool that otherwise serves only activations of the CPU path. With
/// the pool a step reuses the pages of the previous step. When the controller decides for a few
/// vehicles, malloc's work on tensor blocks takes a tenth of the time; the pool avoids it.
void pool_all_tensors();

/// Returns memory that no tensor uses to the system. @return bytes returned
std::int64_t release_cached_memory();

}  // namespace traffic::model
