// The notice board (notice_board.h): the leader of a node posts a pool, and idle workers read it.
#include "notice_board.h"

#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/os/futex.h"

namespace traffic::rollout {
namespace {

constexpr double kGlance_s = 0.25;  ///< seconds between two checks that the leader still runs
constexpr int kNoPool = -1;

}  // namespace

NoticeBoard::NoticeBoard()
    : file_(create_pool_file(sizeof(Notices))),
      mapping_(map_pool_memory(file_, 0, sizeof(Notices), os::Access::kReadWrite)) {
  Notices& board = notices();
  board.host.set(hostname());
  board.pool_fd.store(kNoPool, std::memory_order_relaxed);
  board.layout = layout_hash();
  os::enter_self(board.leader);
}

Notices& NoticeBoard::notices() const {
  return *reinterpret_cast<Notices*>(mapping_.bytes().data());
}

void NoticeBoard::announce() {
  notices().count.fetch_add(1, std::memory_order_release);
  os::wake_all(notices().count);
}

void NoticeBoard::post(const PoolMemory& pool) {
  notices().pool_fd.store(pool.file().get(), std::memory_order_relaxed);
  announce();
}

void NoticeBoard::withdraw(const PoolMemory& pool) {
  int posted = pool.file().get();
  if (notices().pool_fd.compare_exchange_strong(posted, kNoPool)) announce();
}

void NoticeBoard::end() {
  notices().ended.store(1, std::memory_order_relaxed);
  announce();
}

NoticeReader::NoticeReader(pid_t pid, int fd)
    : pid_(pid),
      mapping_(
          map_pool_memory(open_pool_memory(pid, fd), 0, sizeof(Notices), os::Access::kReadOnly)) {
  check_layout(notices().layout);
  const std::string wanted = notices().host.get();
  if (const std::string host = hostname(); host != wanted) {
    throw WorkerError("MPI has started this worker on {}, but its ranks are on {}", host, wanted);
  }
}

const Notices& NoticeReader::notices() const {
  return *reinterpret_cast<const Notices*>(mapping_.bytes().data());
}

std::optional<os::Descriptor> NoticeReader::next_pool() {
  const Notices& board = notices();
  while (true) {
    const std::uint32_t count = board.count.load(std::memory_order_acquire);
    if (board.ended.load(std::memory_order_relaxed) != 0) return std::nullopt;
    const int fd = board.pool_fd.load(std::memory_order_relaxed);
    if (count != seen_ && fd != kNoPool) {
      // The pool may end while this worker opens its memory. `count` then changes, and the worker
      // reads the board again.
      const auto is_current = [&] { return board.count.load(std::memory_order_acquire) == count; };
      try {
        os::Descriptor pool = open_pool_memory(pid_, fd);
        if (!is_current()) continue;
        seen_ = count;
        return pool;
      } catch (const ResourceError&) {
        if (is_current() && os::is_running_or_unknown(board.leader)) throw;
        continue;
      }
    }
    seen_ = count;
    if (!os::is_running_or_unknown(board.leader)) return std::nullopt;
    os::sleep_while_equal(board.count, count, kGlance_s);
  }
}

}  // namespace traffic::rollout
