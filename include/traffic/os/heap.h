/// Controls the memory allocator (heap) of this process.
#pragma once

namespace traffic::os {

/// Returns memory that was freed, but that the allocator still holds, to the operating system.
/// Works with the allocator of the C library and with jemalloc.
void return_free_memory();

/// Makes this thread allocate from fresh memory from now on. The order of its new objects in memory
/// then depends only on the order in which the thread creates them, not on earlier allocations.
/// Some results of SUMO depend on the order in memory. Has no effect with the allocator of the C
/// library.
void begin_anew();

}  // namespace traffic::os
