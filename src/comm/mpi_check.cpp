// Turns error codes of MPI calls into exceptions, and owns MPI communicators (mpi_check.h).
#include "mpi_check.h"

#include <array>
#include <string>

#include "traffic/core/error.h"

namespace traffic::comm {

void check_mpi(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw CommError("{} failed: {}", call,
                  std::string(text.data(), static_cast<std::size_t>(length)));
}

MpiComm MpiComm::split(MPI_Comm parent, int color, int rank) {
  MPI_Comm comm = MPI_COMM_NULL;
  TRAFFIC_MPI(MPI_Comm_split(parent, color, rank, &comm));
  return MpiComm(comm);
}

void MpiComm::reset() noexcept {
  if (comm_ == MPI_COMM_NULL) return;
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!finalized) MPI_Comm_free(&comm_);
  comm_ = MPI_COMM_NULL;
}

}  // namespace traffic::comm
