/// Memory that the ranks of one node map together.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

#include "traffic/os/shared_memory.h"

namespace traffic::comm {

/// Empty when default-constructed or moved from.
struct NodeMemory {
  os::Descriptor file;  ///< to be closed once all have it mapped
  os::Mapping mapping;

  [[nodiscard]] std::byte* data() const { return mapping.bytes().data(); }
  [[nodiscard]] std::size_t size() const { return mapping.bytes().size(); }
};

/// Zeroed memory, allocated at once so that lack of memory shows here and not as a signal later.
/// @throws ResourceError naming what is needed and what is free
NodeMemory create_node_memory(std::size_t size_bytes);
/// Maps what another process of this user has created, as its descriptor is still open.
/// @throws ResourceError
NodeMemory open_node_memory(pid_t pid, int descriptor, std::size_t size_bytes);

/// @throws ResourceError with both sizes and what to do
void require_memory(std::int64_t needed_bytes, std::int64_t available_bytes);

}  // namespace traffic::comm
