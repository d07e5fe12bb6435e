/// The heap of this process.
#pragma once

namespace traffic::os {

/// Returns freed memory that the allocator keeps to the system. Works with the allocator of the C
/// library and with jemalloc.
void return_free_memory();

/// Makes this thread allocate from fresh memory from now on. Its objects then lie in memory in the
/// order in which it creates them, whatever the process did before. Some results of SUMO depend on
/// this order. Has no effect with the allocator of the C library.
void begin_anew();

}  // namespace traffic::os
