// Ends all ranks of an MPI job with one exit code (job_end.h).
#include "job_end.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "mpi_check.h"

// MPI_Abort of Open MPI prints an explanation and then calls this function. Calling it directly
// skips the explanation. The symbol is weak, because other versions of Open MPI may lack it.
extern "C" int ompi_mpi_abort(MPI_Comm comm, int code) __attribute__((weak));

namespace traffic::comm {
namespace {

constexpr useconds_t kYieldToRank0_us = 1'000'000;

}  // namespace

bool is_under_mpirun() noexcept { return std::getenv("OMPI_COMM_WORLD_SIZE") != nullptr; }

void end_all_ranks(ExitCode code) noexcept {
  std::fflush(nullptr);
  if (&ompi_mpi_abort != nullptr) ompi_mpi_abort(MPI_COMM_WORLD, static_cast<int>(code));
  MPI_Abort(MPI_COMM_WORLD, static_cast<int>(code));
  _exit(static_cast<int>(code));
}

void end_all_ranks_together(ExitCode code) noexcept {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Usually mpirun ends this process with SIGTERM while it sleeps.
  if (rank != 0) usleep(kYieldToRank0_us);
  end_all_ranks(code);
}

}  // namespace traffic::comm
