/// Memory through which the leader of a node tells the node's rollout workers which pool to serve.
/// Workers live as long as the job and serve one pool after the other.
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

struct alignas(kLine) Notices {
  std::uint64_t layout;  ///< layout_hash()
  SharedText<256> host;  ///< the node's name
  os::SharedProcess leader;
  std::atomic<std::uint32_t> count;   ///< futex: raised after every change
  std::atomic<std::int32_t> pool_fd;  ///< the leader's descriptor of the pool's memory; -1: none
  std::atomic<std::uint32_t> ended;   ///< 1: the workers exit
};

/// The board as the leader sees it.
class NoticeBoard {
 public:
  /// @throws ResourceError
  NoticeBoard();

  [[nodiscard]] const os::Descriptor& file() const { return file_; }
  /// Tells the idle workers to serve this pool.
  void post(const PoolMemory& pool);
  /// Call it before the pool's memory is closed, so that no worker opens another file in its place.
  void withdraw(const PoolMemory& pool);
  /// Makes the workers that serve no pool exit.
  void end();

 private:
  [[nodiscard]] Notices& notices() const;
  void announce();

  os::Descriptor file_;
  os::Mapping mapping_;
};

/// The board as a worker sees it.
class NoticeReader {
 public:
  /// @param pid process id of the leader
  /// @param fd the leader's descriptor of the board
  /// @throws ResourceError; WorkerError if the leader is of another build or on another node
  NoticeReader(pid_t pid, int fd);

  /// Waits for the next pool.
  /// @return its memory; nothing once the leader has ended the workers or is gone itself
  [[nodiscard]] std::optional<os::Descriptor> next_pool();

 private:
  [[nodiscard]] const Notices& notices() const;

  pid_t pid_;
  os::Mapping mapping_;
  std::uint32_t seen_ = 0;  ///< number of notices that this worker has read
};

}  // namespace traffic::rollout
