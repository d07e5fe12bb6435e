#include "process_watch.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "traffic/core/process.h"

namespace traffic::rollout {

bool is_running(pid_t pid, std::uint64_t start_ticks) {
  if (process_start_ticks(pid) != start_ticks) return false;
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string line;
  if (!std::getline(file, line)) return false;
  const auto name_end = line.rfind(')');  // the name may hold brackets
  if (name_end == std::string::npos || name_end + 2 >= line.size()) return false;
  const char state = line[name_end + 2];
  return state != 'Z' && state != 'X';
}

void enter_self(SharedProcess& entry) {
  entry.start_ticks.store(process_start_ticks(getpid()), std::memory_order_relaxed);
  entry.pid.store(getpid(), std::memory_order_release);
}

bool is_running_or_unknown(const SharedProcess& entry) {
  const pid_t pid = entry.pid.load(std::memory_order_acquire);
  return pid == 0 || is_running(pid, entry.start_ticks.load(std::memory_order_relaxed));
}

}  // namespace traffic::rollout
