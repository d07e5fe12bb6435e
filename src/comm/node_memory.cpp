// Creates and opens anonymous memory that the ranks of one node share (node_memory.h).
#include "node_memory.h"

#include <algorithm>
#include <limits>
#include <system_error>

#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::comm {
namespace {

constexpr const char* kMemoryName = "traffic_comm";

}  // namespace

NodeMemory create_node_memory(std::size_t size_bytes) {
  require_memory(static_cast<std::int64_t>(
                     std::min(size_bytes, std::size_t{std::numeric_limits<std::int64_t>::max()})),
                 available_memory_bytes());
  try {
    NodeMemory memory;
    memory.file = os::create_memory_file(kMemoryName, size_bytes, os::Allocation::kAtOnce);
    memory.mapping = os::Mapping(memory.file, 0, size_bytes, os::Access::kReadWriteTouched);
    return memory;
  } catch (const std::system_error& error) {
    throw ResourceError(
        "cannot create {} of shared memory: {}; give the job more memory (docker --memory, SLURM "
        "--mem) or use fewer ranks per node",
        human_bytes(static_cast<std::int64_t>(size_bytes)), error.what());
  }
}

NodeMemory open_node_memory(pid_t pid, int descriptor, std::size_t size_bytes) {
  try {
    NodeMemory memory;
    memory.file = os::open_memory_file_of(pid, descriptor, kMemoryName);
    memory.mapping = os::Mapping(memory.file, 0, size_bytes, os::Access::kReadWriteTouched);
    return memory;
  } catch (const std::system_error& error) {
    throw ResourceError(
        "cannot open the memory shared by the ranks of this node: {}; the ranks of a node must run "
        "as one user in one container",
        error.what());
  }
}

void require_memory(std::int64_t needed_bytes, std::int64_t available_bytes) {
  if (needed_bytes <= available_bytes) return;
  throw ResourceError(
      "the ranks of this node need {} of shared memory but only {} is free: give the job more "
      "memory (docker --memory, SLURM --mem), use fewer ranks per node or a smaller model",
      human_bytes(needed_bytes), human_bytes(available_bytes));
}

}  // namespace traffic::comm
