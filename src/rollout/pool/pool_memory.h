/// The whole memory of a pool, as ranks map it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout.h"
#include "traffic/os/shared_memory.h"

namespace traffic::rollout {

/// Settings of a node's part of a pool, which the node's leader decides.
struct PoolPlan {
  Geometry geometry;  ///< num_ranks is set from ranks, settings_bytes from settings
  std::vector<std::uint32_t> ranks = {0};  ///< ranks of the node, ascending
  double env_timeout_s = 300;
  std::uint32_t max_restarts = 5;
  std::string env_program;
  std::string settings;  ///< text for the simulations; the pool does not read it
};

class PoolMemory {
 public:
  /// Creates the memory and fills in its head.
  /// @throws ResourceError
  static PoolMemory create(const PoolPlan& plan);
  /// Maps memory that another process has created.
  /// @throws ResourceError, WorkerError
  explicit PoolMemory(os::Descriptor file);

  [[nodiscard]] const os::Descriptor& file() const { return file_; }
  [[nodiscard]] const Geometry& geometry() const { return geometry_; }
  [[nodiscard]] std::span<std::byte> head() const {
    return all_.bytes().first(geometry_.head_bytes());
  }
  [[nodiscard]] PoolHead& pool() const { return head_of(head()); }
  [[nodiscard]] Bell& bell(std::uint32_t rank) const;
  [[nodiscard]] SlotView slot(std::uint32_t env) const;

 private:
  os::Descriptor file_;
  Geometry geometry_;
  os::Mapping all_;
};

/// Creates memory to share with the rollout workers. It is sparse, because it has room for the
/// largest command and answer of every simulation, and most of that room is never used.
/// @throws ResourceError
os::Descriptor create_pool_file(std::size_t size_bytes);

/// Opens memory that another process of this user has created with create_pool_file().
/// @throws ResourceError
os::Descriptor open_pool_memory(pid_t pid, int fd);

/// Maps a part of the memory of a pool.
/// @throws ResourceError
os::Mapping map_pool_memory(const os::Descriptor& file, std::size_t offset_bytes,
                            std::size_t size_bytes, os::Access access);

}  // namespace traffic::rollout
