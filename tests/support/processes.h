/// fork() and kill() for tests, made safe: they can only reach the intended process.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>

namespace traffic::test {

/// fork() that never returns -1: a test that passed -1 to kill() would signal every process.
/// @throws std::system_error
inline pid_t fork_child() {
  const pid_t pid = fork();
  if (pid < 0) throw std::system_error(errno, std::generic_category(), "fork");
  return pid;
}

/// kill() for one process. It rejects 0, which would signal this process group including the test
/// runner, and -1, which would signal all processes. @throws std::system_error
inline void send_signal(pid_t pid, int number) {
  if (pid <= 0) throw std::system_error(ESRCH, std::generic_category(), "kill");
  if (kill(pid, number) != 0) throw std::system_error(errno, std::generic_category(), "kill");
}

}  // namespace traffic::test
