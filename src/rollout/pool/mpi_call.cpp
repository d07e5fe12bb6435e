// Turns error codes of MPI into exceptions (mpi_call.h).
#include "mpi_call.h"

#include <array>
#include <string_view>

#include "traffic/core/error.h"

namespace traffic::rollout {

void check_mpi(int result, const char* call) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> text{};
  int length = 0;
  MPI_Error_string(result, text.data(), &length);
  const std::string_view function =
      std::string_view(call).substr(0, std::string_view(call).find('('));
  throw WorkerError("{} failed: {}", function,
                    std::string_view(text.data(), static_cast<std::size_t>(length)));
}

}  // namespace traffic::rollout
