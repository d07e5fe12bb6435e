/// A child process whose output is kept to explain its end.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

#include "memory_file.h"

namespace traffic::rollout {

/// The descriptor under which a child finds the shared memory.
inline constexpr int kSharedFd = 3;

struct ChildSpec {
  std::string program;
  std::vector<std::string> args;  ///< without the program's name
  int shared_fd = -1;             ///< becomes kSharedFd in the child
};

/// "was killed by signal 9 (Killed)", "ended with exit code 6"
std::string describe_exit(int wait_status);

/// Owns the process: the destructor kills it and waits for it. Spawn from a thread that lives as
/// long as the children: their parent-death signal follows it.
class ChildProcess {
 public:
  /// @throws WorkerError naming the program and why it does not start
  explicit ChildProcess(const ChildSpec& spec);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  /// Readable when there is output, and at the end of the process; -1 after that.
  [[nodiscard]] int output_fd() const { return output_.get(); }
  /// Takes what the process has written; keeps the last lines.
  void read_output();
  /// The wait status once the process is dead; then it is reaped.
  [[nodiscard]] std::optional<int> reap();
  void kill();
  /// The last lines of its output.
  [[nodiscard]] const std::string& tail() const { return tail_; }

 private:
  pid_t pid_ = -1;
  Descriptor output_;
  std::string tail_;
};

}  // namespace traffic::rollout
