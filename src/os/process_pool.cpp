// Runs functions of this program in child processes that can send messages (process_pool.h).
#include "traffic/os/process_pool.h"

#include <poll.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <span>

#include "system_failure.h"

namespace traffic::os {
namespace {

/// Type of the number of bytes of a message, which is sent before the message.
using Length = std::uint64_t;

}  // namespace

bool Messages::send(std::string_view message) const noexcept {
  const Length length = message.size();
  return write_all(to_.get(), std::as_bytes(std::span(&length, 1))) &&
         write_all(to_.get(), std::as_bytes(std::span(message)));
}

int ProcessPool::start(const Body& body, int parent_death_signal) {
  Pipe pipe = make_pipe();
  const auto child_body = [&] {
    pipe.read_end.reset();
    for (auto& [number, other] : processes_) other.from.reset();
    return body(Messages(std::move(pipe.write_end)));
  };
  Process process{.child = ChildProcess::fork(child_body, parent_death_signal),
                  .from = std::move(pipe.read_end)};
  processes_.emplace(num_started_, std::move(process));
  return num_started_++;
}

void ProcessPool::signal(int process, int number) const noexcept {
  const auto found = processes_.find(process);
  if (found != processes_.end()) found->second.child.signal(number);
}

std::vector<ProcessPool::Event> ProcessPool::wait(double timeout_s) {
  std::vector<pollfd> fds;
  std::vector<int> numbers;
  for (const auto& [number, process] : processes_) {
    fds.push_back({.fd = process.from.get(), .events = POLLIN, .revents = 0});
    numbers.push_back(number);
  }
  const int timeout_ms = timeout_s < 0 ? -1 : static_cast<int>(timeout_s * 1e3);
  if (::poll(fds.data(), fds.size(), timeout_ms) < 0 && errno != EINTR) {
    fail(errno, "poll");
  }
  std::vector<Event> events;
  for (std::size_t i = 0; i < fds.size(); ++i) {
    if (fds[i].revents != 0) take(numbers[i], processes_.at(numbers[i]), events);
  }
  return events;
}

void ProcessPool::take(int number, Process& process, std::vector<Event>& events) {
  std::array<std::byte, 65536> buffer{};
  const long got = read_some(process.from.get(), buffer);
  if (got <= 0) {
    // The process has closed its pipe, so it has ended or is about to end.
    events.push_back({.process = number, .exit = process.child.wait()});
    processes_.erase(number);
    return;
  }
  std::string& unread = process.unread;
  unread.append(reinterpret_cast<const char*>(buffer.data()), static_cast<std::size_t>(got));
  std::size_t at = 0;
  while (unread.size() - at >= sizeof(Length)) {
    Length length = 0;
    std::memcpy(&length, unread.data() + at, sizeof(length));
    if (unread.size() - at - sizeof(length) < length) break;
    events.push_back({.process = number, .message = unread.substr(at + sizeof(length), length)});
    at += sizeof(length) + length;
  }
  unread.erase(0, at);
}

}  // namespace traffic::os
