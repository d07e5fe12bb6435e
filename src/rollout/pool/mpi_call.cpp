#include "mpi_call.h"

#include <array>
#include <string>

#include "traffic/core/error.h"

namespace traffic::rollout {

void check_mpi(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  throw WorkerError("{} failed: {}", call,
                    std::string(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace traffic::rollout
