/// Turns error codes of MPI calls into exceptions, and owns MPI communicators. Files of this module
/// include this header instead of mpi.h; public headers do not include it.
#pragma once

#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <utility>

namespace traffic::comm {

/// @throws CommError with MPI's own text
void check_mpi(int result, const char* call);

/// Calls an MPI function and throws a CommError if it fails. The communicator must have the error
/// handler MPI_ERRORS_RETURN. The communicators of this module inherit it from the session's
/// communicator.
#define TRAFFIC_MPI(call) ::traffic::comm::check_mpi((call), #call)

/// Owns an MPI_Comm and frees it in the destructor. It is MPI_COMM_NULL after a move and after
/// release().
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

  /// Makes one communicator for the ranks that pass the same color, ordered by `rank`.
  static MpiComm split(MPI_Comm parent, int color, int rank);

  [[nodiscard]] MPI_Comm get() const { return comm_; }
  /// Gives up ownership without freeing. Call it after a failure, when messages may still be in
  /// flight.
  MPI_Comm release() { return std::exchange(comm_, MPI_COMM_NULL); }

 private:
  void reset() noexcept;
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace traffic::comm
