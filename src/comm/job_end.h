/// Ends all ranks of an MPI job with one exit code, without explanations by mpirun or MPI.
#pragma once

#include "traffic/core/error.h"

namespace traffic::comm {

/// Whether Open MPI's mpirun started this process. If so, users see the exit code of mpirun.
bool is_under_mpirun() noexcept;

/// Ends all ranks and makes mpirun return `code`. Suppresses two texts that would follow the
/// program's own message: mpirun explains every rank that exits with another code than 0, and
/// MPI_Abort explains itself. MPI must be initialised.
[[noreturn]] void end_all_ranks(ExitCode code) noexcept;

/// Does the same as end_all_ranks() if every rank calls it with the same code. Rank 0 ends the job;
/// another rank ends it only if rank 0 has not done so within a second.
[[noreturn]] void end_all_ranks_together(ExitCode code) noexcept;

}  // namespace traffic::comm
