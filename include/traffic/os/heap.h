/// The heap of this process.
#pragma once

namespace traffic::os {

/// Returns freed memory that the allocator keeps to the system. Works with the allocator of the C
/// library and with jemalloc.
void return_free_memory();

/// Makes this thread allocate from fresh memory from now on. The order of its objects in memory is
/// then the order in which it makes them, whatever the process did before. Has no effect with the
/// allocator of the C library.
void begin_anew();

}  // namespace traffic::os
