/// Makes sure that mpirun ends soon after a job on several machines was aborted.
#pragma once

namespace traffic::comm {

/// Starts a separate process that waits patience_s seconds for the launcher of this rank (mpirun,
/// or its daemon on the node) to end, and then kills it. Does nothing without mpirun. The function
/// is meant for aborting a job while one of its machines cannot be reached. In this case mpirun
/// waits for its daemon on that machine until TCP gives up the connection, which takes about a
/// quarter of an hour.
void end_launcher_later(double patience_s) noexcept;

}  // namespace traffic::comm
