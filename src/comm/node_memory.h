/// Creates and opens anonymous memory that the ranks of one node share.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "traffic/os/shared_memory.h"

namespace traffic::comm {

/// Shared memory that is mapped into this process. Empty when default-constructed or moved from.
struct NodeMemory {
  os::Descriptor file;  ///< close it once all ranks have mapped the memory
  os::Mapping mapping;

  [[nodiscard]] std::byte* data() const { return mapping.bytes().data(); }
  [[nodiscard]] std::size_t size() const { return mapping.bytes().size(); }
};

/// Creates zeroed memory and allocates it at once, so that a lack of memory becomes an error here
/// and not a signal later.
/// @throws ResourceError naming the required and the free memory
NodeMemory create_node_memory(std::size_t size_bytes);
/// Maps memory that process `pid` of this user has created.
/// @param descriptor descriptor of the memory in process `pid`, which must not have closed it yet
/// @throws ResourceError if the memory cannot be opened or mapped
NodeMemory open_node_memory(pid_t pid, int descriptor, std::size_t size_bytes);

/// @throws ResourceError with both sizes and advice if less memory is available than needed
void require_memory(std::int64_t needed_bytes, std::int64_t available_bytes);

}  // namespace traffic::comm
