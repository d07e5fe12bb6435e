#pragma once

namespace traffic::comm {

/// Has whoever started this rank (mpirun, or its daemon on the node) killed unless it ends within
/// patience_s, by a process of its own that outlives this one. For a job that is given up while a
/// machine of it cannot be reached: mpirun asks its daemon there to end, and waits for the answer
/// until TCP gives the connection up, a quarter of an hour. Does nothing without mpirun.
void end_launcher_later(double patience_s) noexcept;

}  // namespace traffic::comm
