/// Starts child processes, which run another program or a function of this program, and waits for
/// them.
///
///     void list_and_wait() {
///       const ProgramOutput listing = run_program("/bin/ls", {"-l"});
///       std::puts(listing.out.c_str());
///       ChildProcess child = ChildProcess::run({.program = "/bin/sleep", .args = {"1"}});
///       std::puts(child.wait().describe().c_str());
///     }
/// The kernel kills a child when the thread that started it ends (PDEATHSIG). Start children in a
/// thread that lives as long as they are needed.
#pragma once

#include <sys/types.h>

#include <csignal>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "traffic/os/descriptor.h"

namespace traffic::os {

/// How a process ended.
class Exit {
 public:
  explicit Exit(int wait_status) : status_(wait_status) {}
  [[nodiscard]] bool well() const { return code() == 0; }
  /// The signal that ended the process; 0 if no signal did.
  [[nodiscard]] int signal() const;
  /// The exit code as shells report it: 128 + n if signal n ended the process.
  [[nodiscard]] int code() const;
  /// "was killed by signal 9 (Killed)", "ended with exit code 6"
  [[nodiscard]] std::string describe() const;
  /// Ends the calling process at once in the same way: by the same signal or with the same code.
  [[noreturn]] void repeat() const;

 private:
  int status_;
};

/// A program to start.
struct Program {
  std::string program;                 ///< a path; PATH is not searched
  std::vector<std::string> args = {};  ///< without the program's name
  /// Descriptors that the child gets, as pairs {number in the child, descriptor of this process}.
  /// The child's standard input is /dev/null unless a pair replaces it. Its standard output and
  /// error are those of this process unless a pair replaces them.
  std::vector<std::pair<int, int>> fds = {};
  std::vector<std::string> set_environment = {};  ///< "NAME=value", added to the inherited ones
  /// True for a program that can be started again. When memory runs out, the kernel kills this
  /// program first, before the process that has started it. The program writes no core file.
  bool expendable = false;
};

/// Owns a child process. The destructor kills the process and waits for its end. An object owns no
/// process if it was default-constructed or moved from, or after poll() or wait() has returned how
/// its process ended.
class ChildProcess {
 public:
  ChildProcess() = default;
  /// Starts a program, with no signals blocked.
  /// @throws std::system_error naming the program and why it does not start
  static ChildProcess run(const Program& program);
  /// Runs `body` in a copy of this process that has only the calling thread. The result of `body`
  /// is the exit code; after an exception it is 1. The copy runs no other code of this process, not
  /// even destructors.
  /// @param parent_death_signal signal for the child when this thread ends
  /// @throws std::system_error
  static ChildProcess fork(const std::function<int()>& body, int parent_death_signal = SIGKILL);
  ~ChildProcess() { end(); }
  ChildProcess(ChildProcess&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  ChildProcess& operator=(ChildProcess&& other) noexcept;

  [[nodiscard]] bool exists() const { return pid_ > 0; }
  [[nodiscard]] pid_t pid() const { return pid_; }
  /// Returns how the process ended, and reaps it; nothing while it runs.
  [[nodiscard]] std::optional<Exit> poll();
  /// Waits for the end of the process.
  Exit wait();
  /// Waits for the end of the child. While a signal (SIGSTOP) has stopped the child, this process
  /// stops itself as well, so that the program that supervises this process notices.
  Exit wait_alike();
  /// Sends a signal to the process; does nothing if this object owns none.
  void signal(int number) const noexcept;
  void kill() const noexcept { signal(SIGKILL); }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  void end() noexcept;

  pid_t pid_ = -1;
};

/// Result of run_program().
struct ProgramOutput {
  bool stopped = false;  ///< the program was killed because wants_stop returned true
  Exit exit{0};
  std::string out = {};    ///< standard output
  std::string error = {};  ///< standard error
};

/// Runs a program to its end and returns its output.
/// @param wants_stop called about every 100 ms; the program is killed once it returns true
/// @param takes_line called with each line of the program's standard error as soon as it arrives;
///   lines for which it returns true are left out of ProgramOutput::error
/// @throws std::system_error if it does not start
ProgramOutput run_program(const std::string& program, const std::vector<std::string>& args,
                          const std::function<bool()>& wants_stop = {},
                          const std::function<bool(std::string_view)>& takes_line = {});

}  // namespace traffic::os
