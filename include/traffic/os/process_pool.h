/// Runs functions of this program in child processes, which can send messages to this process.
///
///     void run_one() {
///       ProcessPool pool;
///       pool.start([](const Messages& parent) { return parent.send("done") ? 0 : 1; });
///       while (pool.size() > 0) {
///         for (const ProcessPool::Event& event : pool.wait(0.2)) {
///           std::puts(event.exit ? event.exit->describe().c_str() : event.message.c_str());
///         }
///       }
///     }
#pragma once

#include <csignal>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/os/child_process.h"

namespace traffic::os {

/// The channel through which a child process of a ProcessPool sends messages to its parent.
class Messages {
 public:
  explicit Messages(Descriptor to) : to_(std::move(to)) {}
  /// Sends a message. If the child process dies during the call, the message may be lost.
  /// @return false if the parent has closed the channel
  bool send(std::string_view message) const noexcept;

 private:
  Descriptor to_;
};

/// Starts child processes and collects their messages and exits. Only one thread may use a pool.
/// The destructor kills the running processes and waits for their ends.
class ProcessPool {
 public:
  /// A message from a process, or its end.
  struct Event {
    int process = 0;  ///< number of the process, as start() returned it
    std::string message = {};
    std::optional<Exit> exit = std::nullopt;  ///< how the process ended; set in its last event
  };
  /// The main function of a process; it returns the exit code.
  using Body = std::function<int(const Messages& parent)>;

  /// Starts a process.
  /// @param parent_death_signal signal that the process gets when the thread that called start()
  /// ends
  /// @return the number of the process; the first process of a pool has number 0, the next 1, ...
  /// @throws std::system_error
  int start(const Body& body, int parent_death_signal = SIGKILL);
  /// Number of processes whose end wait() has not returned yet.
  [[nodiscard]] std::size_t size() const { return processes_.size(); }
  void signal(int process, int number) const noexcept;
  /// Waits until a message arrives or a process ends, at most timeout_s (negative: without limit).
  /// @throws std::system_error
  std::vector<Event> wait(double timeout_s);

 private:
  struct Process {
    ChildProcess child;
    Descriptor from;          ///< end of the pipe from which messages of the process are read
    std::string unread = {};  ///< received bytes of a message that is not complete yet
  };
  void take(int number, Process& process, std::vector<Event>& events);

  std::map<int, Process> processes_;
  int num_started_ = 0;
};

}  // namespace traffic::os
