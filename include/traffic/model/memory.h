/// Memory that the model keeps between steps.
#pragma once

#include <cstdint>

namespace traffic::model {

/// Activations of the CPU path come from a pool, so that a step touches the pages of the step
/// before. From this call on all other tensors on the CPU do, too: what malloc takes to align, to
/// split and to join their blocks is a tenth of what deciding for a few vehicles costs.
void pool_all_tensors();

/// Gives back to the system what no tensor uses at present. @return bytes given back
std::int64_t release_cached_memory();

}  // namespace traffic::model
