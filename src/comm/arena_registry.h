/// ArenaRegistry tells MpiCommunicator whether a tensor lies in an arena, i.e. in memory of
/// shared_zeros() that the ranks of a node share. Such a tensor is reduced without copies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "node_memory.h"

namespace traffic::comm {

/// Position of a tensor in an arena. In an operation, all ranks must use the same arena number and
/// offset.
struct ArenaPlace {
  std::uint64_t arena;
  std::uint64_t offset;  ///< from the begin of a rank's part, in bytes
  std::byte* segment;    ///< local rank 0's part; the parts of the other ranks follow
  std::size_t bytes_per_rank;

  [[nodiscard]] std::byte* of(int local_rank) const {
    return segment + static_cast<std::size_t>(local_rank) * bytes_per_rank + offset;
  }
};

/// Knows the arenas whose memory is still in use by a tensor.
class ArenaRegistry {
 public:
  /// @param bytes_per_rank size of each rank's part of the segment
  /// @return the number of the arena, counted from 1
  std::uint64_t add(const std::shared_ptr<NodeMemory>& segment, int local_rank,
                    std::size_t bytes_per_rank);
  /// Finds the arena whose part of this rank contains all of [data, data + bytes).
  [[nodiscard]] std::optional<ArenaPlace> find(const void* data, std::size_t bytes) const;

 private:
  struct Arena {
    std::uint64_t number;
    std::weak_ptr<NodeMemory> segment;
    std::byte* own;  ///< this rank's part
    std::size_t bytes_per_rank;
  };
  std::vector<Arena> arenas_;
  std::uint64_t num_added_ = 0;
};

}  // namespace traffic::comm
