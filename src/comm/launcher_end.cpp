// Kills mpirun if it does not end soon after a job was aborted (launcher_end.h).
#include "launcher_end.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>

namespace traffic::comm {
namespace {

/// Waits until the launcher ends, and kills it after patience_s seconds. The function runs in a
/// process that was forked from one with threads, so it may only make system calls.
/// @param launcher a descriptor (pidfd) of the launcher
[[noreturn]] void wait_and_kill(int launcher, double patience_s) {
  setsid();
  // mpirun waits until all copies of the pipes that this process has inherited are closed.
  if (launcher > 0) close_range(0, static_cast<unsigned>(launcher) - 1, 0);
  close_range(static_cast<unsigned>(launcher) + 1, ~0U, 0);
  pollfd ended{.fd = launcher, .events = POLLIN, .revents = 0};
  if (poll(&ended, 1, static_cast<int>(1000 * patience_s)) == 0) {
    syscall(SYS_pidfd_send_signal, launcher, SIGKILL, nullptr, 0);
  }
  _exit(0);
}

}  // namespace

void end_launcher_later(double patience_s) noexcept {
  if (std::getenv("OMPI_COMM_WORLD_SIZE") == nullptr) return;
  const pid_t parent = getppid();
  if (parent <= 1) return;
  const auto launcher = static_cast<int>(syscall(SYS_pidfd_open, parent, 0));
  if (launcher < 0) return;
  if (getppid() == parent && fork() == 0) wait_and_kill(launcher, patience_s);
  close(launcher);
}

}  // namespace traffic::comm
