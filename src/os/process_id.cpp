// Finds out whether a process runs, and in which state it is, from /proc.
#include "traffic/os/process_id.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace traffic::os {

std::optional<ProcessStat> process_stat(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  // If the process ends between open and read, reading fails. getline then returns an empty text,
  // while iterators of the buffer would throw.
  std::string text;
  std::getline(file, text, '\0');
  // The name is in parentheses and may contain any character, even parentheses.
  const auto open = text.find('(');
  const auto close = text.rfind(')');
  if (open == std::string::npos || close == std::string::npos) return std::nullopt;
  ProcessStat stat;
  stat.name = text.substr(open + 1, close - open - 1);
  std::istringstream fields(text.substr(close + 1));
  std::string skipped;
  const auto skip = [&](int first, int last) {
    for (int field = first; field <= last; ++field) fields >> skipped;
  };
  std::uint64_t user_ticks = 0;
  std::uint64_t system_ticks = 0;
  fields >> stat.state >> stat.parent;  // fields 3 and 4
  skip(5, 13);
  fields >> user_ticks >> system_ticks;
  skip(16, 21);
  fields >> stat.start_ticks >> skipped >> stat.resident_pages;
  if (!fields) return std::nullopt;
  stat.cpu_ticks = user_ticks + system_ticks;
  return stat;
}

std::uint64_t process_start_ticks(pid_t pid) {
  return process_stat(pid).value_or(ProcessStat{}).start_ticks;
}

bool is_running(pid_t pid, std::uint64_t start_ticks) {
  const auto stat = process_stat(pid);
  return stat && stat->state != 'Z' && stat->state != 'X' && stat->start_ticks == start_ticks;
}

bool is_stopped(pid_t pid) { return process_stat(pid).value_or(ProcessStat{}).state == 'T'; }

void enter_self(SharedProcess& entry) {
  entry.start_ticks.store(process_start_ticks(getpid()), std::memory_order_relaxed);
  entry.pid.store(getpid(), std::memory_order_release);
}

bool is_running_or_unknown(const SharedProcess& entry) {
  const pid_t pid = entry.pid.load(std::memory_order_acquire);
  return pid == 0 || is_running(pid, entry.start_ticks.load(std::memory_order_relaxed));
}

}  // namespace traffic::os
