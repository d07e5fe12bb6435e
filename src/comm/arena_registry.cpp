// Finds the shared memory of the ranks (the arena) in which a tensor lies (arena_registry.h).
#include "arena_registry.h"

namespace traffic::comm {

std::uint64_t ArenaRegistry::add(const std::shared_ptr<NodeMemory>& segment, int local_rank,
                                 std::size_t bytes_per_rank) {
  std::erase_if(arenas_, [](const Arena& arena) { return arena.segment.expired(); });
  std::byte* own = segment->data() + static_cast<std::size_t>(local_rank) * bytes_per_rank;
  arenas_.push_back({++num_added_, segment, own, bytes_per_rank});
  return num_added_;
}

std::optional<ArenaPlace> ArenaRegistry::find(const void* data, std::size_t bytes) const {
  const auto* begin = static_cast<const std::byte*>(data);
  for (const Arena& arena : arenas_) {
    const auto segment = arena.segment.lock();
    if (segment == nullptr || begin < arena.own || begin >= arena.own + arena.bytes_per_rank) {
      continue;
    }
    const auto offset = static_cast<std::size_t>(begin - arena.own);
    if (bytes > arena.bytes_per_rank - offset) continue;
    return ArenaPlace{arena.number, offset, segment->data(), arena.bytes_per_rank};
  }
  return std::nullopt;
}

}  // namespace traffic::comm
