#pragma once

#include "traffic/core/error.h"

namespace traffic::comm {

/// Whether Open MPI's mpirun started this process; its exit code is then mpirun's.
bool is_under_mpirun() noexcept;

/// Ends all ranks, and mpirun with `code`, without the text of mpirun or MPI_Abort below the
/// program's own message: mpirun explains every rank that exits with another code than 0, and
/// MPI_Abort explains itself. MPI must be initialized.
[[noreturn]] void end_all_ranks(ExitCode code) noexcept;

/// Does the same if every rank calls it with the same code. Rank 0 ends the job; the others end it
/// only if rank 0 does not.
[[noreturn]] void end_all_ranks_together(ExitCode code) noexcept;

}  // namespace traffic::comm
