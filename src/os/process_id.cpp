#include "traffic/os/process_id.h"

#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>

namespace traffic::os {
namespace {

struct Stat {
  char state = 'X';  ///< dead
  std::uint64_t start_ticks = 0;
};

/// /proc/PID/stat; of no process if there is none.
Stat read_stat(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string line;
  if (!std::getline(file, line)) return {};
  // The second field, the name, may hold spaces and brackets.
  const auto name_end = line.rfind(')');
  if (name_end == std::string::npos) return {};
  std::istringstream fields(line.substr(name_end + 1));
  Stat stat;
  fields >> stat.state;  // the third field
  std::string skipped;
  for (int field = 4; field < 22; ++field) fields >> skipped;
  fields >> stat.start_ticks;
  return fields ? stat : Stat{};
}

}  // namespace

std::uint64_t process_start_ticks(pid_t pid) { return read_stat(pid).start_ticks; }

bool is_running(pid_t pid, std::uint64_t start_ticks) {
  const Stat stat = read_stat(pid);
  return stat.state != 'Z' && stat.state != 'X' && stat.start_ticks == start_ticks;
}

bool is_stopped(pid_t pid) { return read_stat(pid).state == 'T'; }

void enter_self(SharedProcess& entry) {
  entry.start_ticks.store(process_start_ticks(getpid()), std::memory_order_relaxed);
  entry.pid.store(getpid(), std::memory_order_release);
}

bool is_running_or_unknown(const SharedProcess& entry) {
  const pid_t pid = entry.pid.load(std::memory_order_acquire);
  return pid == 0 || is_running(pid, entry.start_ticks.load(std::memory_order_relaxed));
}

}  // namespace traffic::os
