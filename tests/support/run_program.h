/// Runs a program as a user would and keeps what it said.
#pragma once

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <string>

#include "support/processes.h"

namespace traffic::test {

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< standard output and error, as they came
};

/// @param command for the shell; it is ended by force after timeout_s, so that a hang fails the
/// test and nothing more
inline Outcome run_program(const std::string& command, int timeout_s = 400) {
  Outcome outcome;
  const std::string limit = std::to_string(timeout_s);  // named: GCC 12 warns of a temporary here
  const std::string bounded = "timeout -k 1 " + limit + " " + command + " 2>&1 </dev/null";
  FILE* pipe = popen(bounded.c_str(), "r");
  if (pipe == nullptr) return outcome;
  std::array<char, 4096> buffer{};
  while (const std::size_t n = fread(buffer.data(), 1, buffer.size(), pipe))
    outcome.output.append(buffer.data(), n);
  const int status = pclose(pipe);
  outcome.exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return outcome;
}

/// A program that runs meanwhile; silent. Its pid is that of the command itself if the command
/// execs.
class BackgroundProgram {
 public:
  explicit BackgroundProgram(const std::string& command) : pid_(fork_child()) {
    if (pid_ == 0) {
      const std::string line = "exec " + command + " >/dev/null 2>&1 </dev/null";
      execl("/bin/sh", "sh", "-c", line.c_str(), nullptr);
      _exit(127);
    }
  }
  ~BackgroundProgram() {
    if (pid_ > 0) {
      kill(pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
  }
  BackgroundProgram(const BackgroundProgram&) = delete;
  BackgroundProgram& operator=(const BackgroundProgram&) = delete;

  /// Only before wait(): there is nobody to send to after it.
  void send(int signal_number) const { send_signal(pid_, signal_number); }
  /// @return its exit code; -1 if it did not end in time
  int wait(int timeout_s = 60) {
    for (int i = 0; i < timeout_s * 20; ++i) {
      int status = 0;
      if (waitpid(pid_, &status, WNOHANG) == pid_) {
        pid_ = -1;
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
      }
      usleep(50'000);
    }
    return -1;
  }

 private:
  pid_t pid_;
};

}  // namespace traffic::test
