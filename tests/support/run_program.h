/// Starts programs in tests by shell commands, as a user would. run_program() waits for the end and
/// returns the output. BackgroundProgram lets the test signal the program while it runs.
#pragma once

#include <unistd.h>

#include <cstdint>
#include <fstream>
#include <ios>
#include <string>

#include "support/injected.h"
#include "support/processes.h"
#include "traffic/os/child_process.h"

namespace traffic::test {

struct Outcome {
  int exit_code = -1;
  std::string output;  ///< standard output and error, interleaved
};

/// Runs a shell command. It is killed after timeout_s, so that a hang only fails the test.
inline Outcome run_program(const std::string& command, int timeout_s = 400) {
  tell_injected_by(command);
  const std::string limit = std::to_string(timeout_s);  // a named variable: GCC 12 warns about a
                                                        // temporary here
  const std::string bounded = "timeout -k 1 " + limit + " " + command + " 2>&1";
  const auto result = os::run_program("/bin/sh", {"-c", bounded});
  return {.exit_code = result.exit.code(), .output = result.out};
}

/// A program that runs in the background; its output is discarded. The shell replaces itself by the
/// command (exec), so send() signals the first program of the command.
class BackgroundProgram {
 public:
  explicit BackgroundProgram(const std::string& command)
      : child_(os::ChildProcess::run(
            {.program = "/bin/sh", .args = {"-c", "exec " + command + " >/dev/null 2>&1"}})) {
    tell_injected_by(command);
  }

  /// Call it only before wait(): afterwards there is no process to signal.
  void send(int signal_number) const {
    tell_injected("signal " + std::to_string(signal_number) + " to the job");
    send_signal(child_.pid(), signal_number);
  }
  /// Waits until the program has a handler for the signal. @return false after timeout_s
  [[nodiscard]] bool wait_until_handled(int signal_number, int timeout_s = 30) const {
    const std::uint64_t wanted = std::uint64_t{1} << (signal_number - 1);
    for (int i = 0; i < timeout_s * 20; ++i) {
      std::ifstream status("/proc/" + std::to_string(child_.pid()) + "/status");
      for (std::string word; status >> word;) {
        std::uint64_t handled = 0;
        if (word == "SigCgt:" && status >> std::hex >> handled && (handled & wanted) != 0) {
          return true;
        }
      }
      usleep(50'000);
    }
    return false;
  }
  /// @return the program's exit code; -1 if it did not end in time
  int wait(int timeout_s = 60) {
    for (int i = 0; i < timeout_s * 20; ++i) {
      if (const auto exit = child_.poll()) return exit->code();
      usleep(50'000);
    }
    return -1;
  }

 private:
  os::ChildProcess child_;
};

}  // namespace traffic::test
