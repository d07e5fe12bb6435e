/// A meeting of all ranks with a deadline that names the missing ranks. It uses MPI only, for the
/// times when none of our communicators exists yet or any more.
#pragma once

#include <string>

#include "mpi_check.h"

namespace traffic::comm {

/// Collective over comm. Rank 0 decides; the others receive its verdict.
/// @throws CommError on every rank that came
void rendezvous(MPI_Comm comm, const std::string& what, double timeout_s);

}  // namespace traffic::comm
