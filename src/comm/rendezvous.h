/// rendezvous() waits until all ranks have called it. If a rank is missing at the deadline, it
/// throws an error that names the rank. It uses only MPI, because MpiSession calls it before a
/// Communicator exists and after it is gone.
#pragma once

#include <string>

#include "mpi_check.h"

namespace traffic::comm {

/// Collective over comm. Rank 0 waits for messages of all ranks and then tells them whether all
/// came.
/// @param what name of the rendezvous in the error
/// @throws CommError on every rank that called it if a rank is missing
void rendezvous(MPI_Comm comm, const std::string& what, double timeout_s);

}  // namespace traffic::comm
