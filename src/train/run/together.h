/// Error handling for work that may fail on one rank alone.
#pragma once

#include <functional>
#include <optional>

#include "traffic/comm/communicator.h"
#include "traffic/core/error.h"

namespace traffic::train {

/// Collective. If any rank passes an error, every rank throws the error of the lowest such rank. If
/// only one rank threw, the others would wait for it.
void throw_together(comm::Communicator& communicator, const std::optional<Error>& mine);

/// Collective. Runs work, which must contain no collective operation, on every rank. If it fails on
/// one rank, it throws on all ranks.
void together(comm::Communicator& communicator, const std::function<void()>& work);

/// Like together(), for work of rank 0 that may take longer than ranks wait for each other: the
/// ranks meet every second until it is done. The work runs in a thread of its own.
void together_at_length(comm::Communicator& communicator, const std::function<void()>& work);

}  // namespace traffic::train
