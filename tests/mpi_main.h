/// For tests that run on several ranks: link tests/mpi_main.cpp and start them under mpirun.
#pragma once

#include "traffic/comm/mpi_session.h"

namespace traffic::testing {

/// The session of this test program, the same for all its tests.
comm::MpiSession& mpi_session();

}  // namespace traffic::testing
