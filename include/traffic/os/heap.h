/// The heap of this process.
#pragma once

namespace traffic::os {

/// What was freed and is kept for later goes back to the system, with the allocator of the C
/// library and with jemalloc.
void return_free_memory();

}  // namespace traffic::os
