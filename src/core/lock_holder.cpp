// Writes and reads the content of run.lock: which process uses a run folder.
#include "traffic/core/lock_holder.h"

#include <fmt/format.h>
#include <unistd.h>

#include <sstream>

#include "traffic/core/clock.h"
#include "traffic/core/process.h"
#include "traffic/os/process_id.h"

namespace traffic {

std::string LockHolder::describe() const {
  return fmt::format("pid {} on {} since {}", pid, host, since);
}

bool LockHolder::is_running_here() const {
  return host == hostname() && os::is_running(pid, start_ticks);
}

LockHolder self_as_lock_holder() {
  return {.pid = getpid(),
          .start_ticks = os::process_start_ticks(getpid()),
          .host = hostname(),
          .since = utc_timestamp()};
}

std::string to_text(const LockHolder& holder) {
  return fmt::format("{} {} {} {}\n", holder.pid, holder.start_ticks, holder.host, holder.since);
}

std::optional<LockHolder> parse_lock_holder(std::string_view text) {
  std::istringstream fields{std::string(text)};
  LockHolder holder;
  fields >> holder.pid >> holder.start_ticks >> holder.host >> holder.since;
  if (!fields || holder.pid <= 0) return std::nullopt;
  return holder;
}

}  // namespace traffic
