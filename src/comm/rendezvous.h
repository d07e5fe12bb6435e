/// All ranks meet at one place, with a deadline that names who is missing; over MPI only, for the
/// times when there is no communicator of ours yet or any more.
#pragma once

#include <string>

#include "mpi_check.h"

namespace traffic::comm {

/// Every rank of comm calls it. Rank 0 decides; the others learn its verdict.
/// @throws CommError on every rank that came
void rendezvous(MPI_Comm comm, const std::string& what, double timeout_s);

}  // namespace traffic::comm
