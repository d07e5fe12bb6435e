/// Waits for all ranks; after a deadline the error names the missing ranks. It uses only MPI,
/// because it is called before our communicators exist and after they are gone.
#pragma once

#include <string>

#include "mpi_check.h"

namespace traffic::comm {

/// Collective over comm. Rank 0 decides; the others receive its verdict.
/// @throws CommError on every rank that called it if a rank is missing
void rendezvous(MPI_Comm comm, const std::string& what, double timeout_s);

}  // namespace traffic::comm
