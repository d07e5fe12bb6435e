/// Checked MPI calls and an owning handle. mpi.h stays in src/.
#pragma once

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <utility>

namespace traffic::comm {

/// @throws CommError with MPI's own text
void check_mpi(int result, const char* call);

/// Works only on communicators with MPI_ERRORS_RETURN. The communicators of this module inherit
/// this setting from the session's communicator.
#define TRAFFIC_MPI(call) ::traffic::comm::check_mpi((call), #call)

/// Owns a communicator; null after a move and after release().
class MpiComm {
 public:
  MpiComm() = default;
  explicit MpiComm(MPI_Comm comm) : comm_(comm) {}
  ~MpiComm() { reset(); }
  MpiComm(MpiComm&& other) noexcept : comm_(std::exchange(other.comm_, MPI_COMM_NULL)) {}
  MpiComm& operator=(MpiComm&& other) noexcept {
    if (this != &other) {
      reset();
      comm_ = std::exchange(other.comm_, MPI_COMM_NULL);
    }
    return *this;
  }

  /// Groups the ranks that pass the same color, in the order of their ranks.
  static MpiComm split(MPI_Comm parent, int color, int rank);

  [[nodiscard]] MPI_Comm get() const { return comm_; }
  /// Gives up ownership without freeing: after a failure messages may still be in flight.
  MPI_Comm release() { return std::exchange(comm_, MPI_COMM_NULL); }

 private:
  void reset() noexcept;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace traffic::comm
