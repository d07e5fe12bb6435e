/// Gives tests that run on several ranks their MPI session. Such a test program links
/// tests/mpi_main.cpp, which contains main(), and is started by mpirun.
#pragma once

#include "traffic/comm/mpi_session.h"

namespace traffic::testing {

/// The session of this test program. All tests of the program share it.
comm::MpiSession& mpi_session();

}  // namespace traffic::testing
