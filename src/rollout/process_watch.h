/// Whether a process that is not our child still lives.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "layout.h"

namespace traffic::rollout {

/// False also for a zombie, and for a later process that got the same number.
bool is_running(pid_t pid, std::uint64_t start_ticks);

/// Enters this process.
void enter_self(SharedProcess& entry);
/// True as long as nobody has entered.
bool is_running_or_unknown(const SharedProcess& entry);

}  // namespace traffic::rollout
