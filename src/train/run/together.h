/// Runs work that may fail on one rank alone, and throws the error on all ranks. Otherwise the
/// other ranks would wait for the failed one.
#pragma once

#include <functional>
#include <optional>

#include "traffic/comm/communicator.h"
#include "traffic/core/error.h"

namespace traffic::train {

/// Collective. If any rank passes an error, every rank throws the error of the lowest such rank.
/// @param mine the error of this rank; nothing if its work succeeded
void throw_together(comm::Communicator& communicator, const std::optional<Error>& mine);

/// Collective. Runs `work` on every rank. If it throws an Error on any rank, this function throws
/// on all ranks. The work must contain no collective operation.
void together(comm::Communicator& communicator, const std::function<void()>& work);

/// Collective. Runs `work` on rank 0 only, in a thread of its own. It is meant for work that takes
/// longer than ranks wait for each other in a collective operation. To avoid a timeout, the ranks
/// make a small all_reduce every second until the work is done. Errors are thrown on all ranks.
void together_at_length(comm::Communicator& communicator, const std::function<void()>& work);

}  // namespace traffic::train
