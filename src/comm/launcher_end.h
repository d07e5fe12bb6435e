#pragma once

namespace traffic::comm {

/// Starts a separate process that kills the launcher of this rank (mpirun, or its daemon on the
/// node) unless the launcher ends within patience_s. It is meant for aborting a job while one of
/// its machines cannot be reached: mpirun asks its daemon there to end and would wait about a
/// quarter of an hour for the answer, until TCP gives the connection up. Does nothing without
/// mpirun.
void end_launcher_later(double patience_s) noexcept;

}  // namespace traffic::comm
