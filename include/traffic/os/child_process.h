/// Child processes: programs, and functions of this program in processes of their own.
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
  /// The signal that ended it; 0 if none did.
  [[nodiscard]] int signal() const;
  /// The exit code as shells report it: 128 + n after signal n.
  [[nodiscard]] int code() const;
  /// "was killed by signal 9 (Killed)", "ended with exit code 6"
  [[nodiscard]] std::string describe() const;
  /// Ends this process in the same way, at once.
  [[noreturn]] void repeat() const;

 private:
  int status_;
};

/// A program to start.
struct Program {
  std::string program;                 ///< a path; PATH is not searched
  std::vector<std::string> args = {};  ///< without the program's name
  /// {descriptor in the child, descriptor of this process}. Without an entry the child's descriptor
  /// 0 is /dev/null, and its 1 and 2 are those of this process.
  std::vector<std::pair<int, int>> fds = {};
  std::vector<std::string> set_environment = {};  ///< "NAME=value", added to the inherited ones
  /// True for a program that can be started again. When memory runs out, the kernel kills it before
  /// this process. It writes no core file.
  bool expendable = false;
};

/// Owns a process; none when default-constructed, moved from or reaped. The destructor kills it and
/// waits for it.
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
  /// Waits for the end of the process. While a signal has stopped the child, this process stops as
  /// well, so that its own supervisor notices.
  Exit wait_alike();
  /// Sends a signal, if there is a process.
  void signal(int number) const noexcept;
  void kill() const noexcept { signal(SIGKILL); }

 private:
  explicit ChildProcess(pid_t pid) : pid_(pid) {}
  void end() noexcept;

  pid_t pid_ = -1;
};

struct ProgramOutput {
  bool stopped = false;  ///< the program was killed because wants_stop returned true
  Exit exit{0};
  std::string out = {};    ///< standard output
  std::string error = {};  ///< standard error
};

/// Runs a program to its end and returns its output.
/// @param wants_stop called now and then; the program is killed once it returns true
/// @param takes_line called with each line that the program writes to standard error, as it comes;
///   lines for which it returns true are not in the output
/// @throws std::system_error if it does not start
ProgramOutput run_program(const std::string& program, const std::vector<std::string>& args,
                          const std::function<bool()>& wants_stop = {},
                          const std::function<bool(std::string_view)>& takes_line = {});

}  // namespace traffic::os
