/// fork() for tests.
#pragma once

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

}  // namespace traffic::test
