/// PoolMemory: creates or opens the shared memory of a pool on a node (layout.h), and maps all of
/// it. Ranks use this class; simulations map only parts of the memory.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "layout.h"
#include "traffic/os/shared_memory.h"

namespace traffic::rollout {

/// Settings of the part of a pool on one node. The leader (first rank) of the node chooses them.
struct PoolPlan {
  Geometry geometry;  ///< create() computes num_ranks and settings_bytes from the members below
  std::vector<std::uint32_t> ranks = {0};  ///< ranks of the node, ascending
  double env_timeout_s = 300;              ///< value of rollout.env_timeout_s
  std::uint32_t max_restarts = 5;          ///< value of rollout.max_restarts
  std::string env_program;                 ///< path of the program that runs a simulation
  std::string settings;  ///< text that every simulation gets; the pool does not interpret it
};

class PoolMemory {
 public:
  /// Creates the memory and fills in its head.
  /// @throws ResourceError
  static PoolMemory create(const PoolPlan& plan);
  /// Maps memory that this or another process has created.
  /// @throws ResourceError if it cannot be mapped, WorkerError if another build created it
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

/// Creates memory to share with the rollout workers. It has room for the largest command and answer
/// of every simulation. Most of that room is never used, so the file is sparse.
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
