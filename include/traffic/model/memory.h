/// Memory that the model keeps between steps.
#pragma once

#include <cstdint>

namespace traffic::model {

/// Activations of the CPU path come from a pool, so that a step touches the pages of the step
/// before. Gives back to the system what no tensor uses at present. @return bytes given back
std::int64_t release_cached_memory();

}  // namespace traffic::model
