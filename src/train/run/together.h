/// Failures that all ranks hear of.
#pragma once

#include <functional>
#include <optional>

#include "traffic/comm/communicator.h"
#include "traffic/core/error.h"

namespace traffic::train {

/// Collective. Throws on every rank what the lowest rank with an error brings, if any does: the
/// others would wait for a rank that does not come.
void throw_together(comm::Communicator& communicator, const std::optional<Error>& mine);

/// Does work of this rank's own (with no collective operation in it) on every rank, then meets the
/// others; a failure of one is then the failure of all.
void together(comm::Communicator& communicator, const std::function<void()>& work);

/// The same for work of rank 0 that may take longer than ranks wait for each other: they meet every
/// second until it is done. The work runs in a thread of its own.
void together_at_length(comm::Communicator& communicator, const std::function<void()>& work);

}  // namespace traffic::train
