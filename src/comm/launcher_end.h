#pragma once

namespace traffic::comm {

/// Starts a separate process that kills the launcher of this rank (mpirun, or its daemon on the
/// node) unless the launcher ends within patience_s. Does nothing without mpirun.
/// It is meant for aborting a job while one of its machines cannot be reached. mpirun then asks its
/// daemon on that machine to end. It waits for the answer until TCP gives up the connection, which
/// takes about a quarter of an hour.
void end_launcher_later(double patience_s) noexcept;

}  // namespace traffic::comm
