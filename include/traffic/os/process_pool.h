/// Functions of this program in processes of their own, each with messages to this one.
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

/// The way from a process of a pool to its parent.
class Messages {
 public:
  explicit Messages(Descriptor to) : to_(std::move(to)) {}
  /// It arrives whole or, when this process dies within, not at all.
  /// @return false if nobody listens any more
  bool send(std::string_view message) const noexcept;

 private:
  Descriptor to_;
};

/// One thread. The destructor kills what still runs and waits for it.
class ProcessPool {
 public:
  struct Event {
    int process = 0;
    std::string message = {};
    std::optional<Exit> exit = std::nullopt;  ///< its last event: it has ended and is reaped
  };
  /// What a process does; the result is its exit code.
  using Body = std::function<int(const Messages& parent)>;

  /// @return its number, counted from 0; numbers are not used again
  /// @throws std::system_error
  int start(const Body& body, int parent_death_signal = SIGKILL);
  /// Processes whose end has not been told.
  [[nodiscard]] std::size_t size() const { return processes_.size(); }
  void signal(int process, int number) const noexcept;
  /// Waits for messages and ends, at most timeout_s (negative: without limit).
  /// @throws std::system_error
  std::vector<Event> wait(double timeout_s);

 private:
  struct Process {
    ChildProcess child;
    Descriptor from;
    std::string unread = {};
  };
  void take(int number, Process& process, std::vector<Event>& events);

  std::map<int, Process> processes_;
  int num_started_ = 0;
};

}  // namespace traffic::os
