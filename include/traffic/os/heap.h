/// The heap of this process.
#pragma once

namespace traffic::os {

/// What was freed and is kept for later goes back to the system, with the allocator of the C
/// library and with jemalloc.
void return_free_memory();

/// From here on this thread takes its memory from where nothing has been taken before, so that the
/// order of its objects in memory is that of their making, whatever this process did before. With
/// the allocator of the C library nothing changes.
void begin_anew();

}  // namespace traffic::os
