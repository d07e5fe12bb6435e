/// fork() and kill() for tests, which can not reach more than the one process that is meant.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace traffic::test {

/// fork() that never returns -1: a test that went on with it would signal every process there is.
/// @throws std::system_error
inline pid_t fork_child() {
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  return pid;
}

/// kill() of one process: 0 would end this process group, the test runner's with it, and -1
/// everything. @throws std::system_error
inline void send_signal(pid_t pid, int number) {
  if (pid <= 0) throw std::system_error(ESRCH, std::generic_category(), "kill");
  if (kill(pid, number) != 0) throw std::system_error(errno, std::generic_category(), "kill");
}

}  // namespace traffic::test
