/// The notice board: shared memory through which the leader (first rank) of a node tells the node's
/// rollout workers which pool to serve. Workers live as long as the job and serve one pool after
/// the other.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>
#include <optional>

#include "layout.h"
#include "pool_memory.h"
#include "traffic/os/process_id.h"
#include "traffic/os/shared_memory.h"

namespace traffic::rollout {

/// The content of the board.
struct alignas(kLine) Notices {
  std::uint64_t layout;  ///< layout_hash()
  SharedText<256> host;  ///< the node's name
  os::SharedProcess leader;
  std::atomic<std::uint32_t> count;   ///< number of changes; a futex on which the workers sleep
  std::atomic<std::int32_t> pool_fd;  ///< the leader's descriptor of the pool's memory; -1 if there
                                      ///< is no pool
  std::atomic<std::uint32_t> ended;   ///< 1 after the leader has told the workers to exit
};

/// The leader's access to the board: it creates the board and posts pools.
class NoticeBoard {
 public:
  /// @throws ResourceError
  NoticeBoard();

  [[nodiscard]] const os::Descriptor& file() const { return file_; }
  /// Tells the idle workers to serve this pool.
  void post(const PoolMemory& pool);
  /// Removes the pool from the board. Call it before the pool's memory is closed, because another
  /// file may then get the same descriptor.
  void withdraw(const PoolMemory& pool);
  /// Makes the workers that serve no pool exit.
  void end();

 private:
  [[nodiscard]] Notices& notices() const;
  void announce();

  os::Descriptor file_;
  os::Mapping mapping_;
};

/// A worker's access to the board: it waits for pools.
class NoticeReader {
 public:
  /// @param pid process id of the leader
  /// @param fd the leader's descriptor of the board
  /// @throws ResourceError if the board cannot be opened; WorkerError if the leader runs another
  /// build or runs on another node
  NoticeReader(pid_t pid, int fd);

  /// Waits for the next pool.
  /// @return its memory; empty once the leader has called NoticeBoard::end() or is gone
  [[nodiscard]] std::optional<os::Descriptor> next_pool();

 private:
  [[nodiscard]] const Notices& notices() const;

  pid_t pid_;
  os::Mapping mapping_;
  std::uint32_t seen_ = 0;  ///< value of Notices::count when this worker last read the board
};

}  // namespace traffic::rollout
