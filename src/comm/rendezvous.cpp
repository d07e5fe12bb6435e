// Waits with a deadline until all ranks have arrived (rendezvous.h).
#include "rendezvous.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "traffic/core/error.h"
#include "waiting.h"

namespace traffic::comm {
namespace {

constexpr int kHelloTag = 7001;
constexpr int kVerdictTag = 7002;
using Verdict = std::array<char, 512>;  ///< error message; empty if all ranks came

/// Waits for an MPI request. @return whether it finished in time
bool wait(MPI_Request& request, const Deadline& deadline) {
  Backoff backoff;
  for (;;) {
    int done = 0;
    TRAFFIC_MPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
    if (done) return true;
    if (deadline.passed()) return false;
    backoff.pause();
  }
}

void copy_text(const std::string& text, Verdict& verdict) {
  const std::size_t length = std::min(text.size(), verdict.size() - 1);
  std::copy_n(text.data(), length, verdict.data());
}

/// Rank 0 waits for a message of every other rank.
/// @return an error that names the missing ranks; empty if all ranks came
std::string collect(MPI_Comm comm, int size, const std::string& what, double timeout_s) {
  std::vector<int> hello(static_cast<std::size_t>(size));
  std::vector<MPI_Request> requests(static_cast<std::size_t>(size), MPI_REQUEST_NULL);
  for (std::size_t rank = 1; rank < requests.size(); ++rank) {
    TRAFFIC_MPI(MPI_Irecv(&hello[rank], 1, MPI_INT, static_cast<int>(rank), kHelloTag, comm,
                          &requests[rank]));
  }
  const Deadline deadline(timeout_s);
  std::vector<std::size_t> missing;
  for (std::size_t rank = 1; rank < requests.size(); ++rank) {
    if (wait(requests[rank], deadline)) continue;
    missing.push_back(rank);
    // Cancels the request, because MPI must not write to the buffer after this function has
    // returned.
    TRAFFIC_MPI(MPI_Cancel(&requests[rank]));
    TRAFFIC_MPI(MPI_Request_free(&requests[rank]));
  }
  if (missing.empty()) return {};
  return fmt::format("{}: {} {} did not come within {} s", what,
                     missing.size() == 1 ? "rank" : "ranks", fmt::join(missing, ", "), timeout_s);
}

/// Sends a message to a rank. It must be small: MPI then copies it, and post() returns before the
/// rank has received it.
void post(const void* data, int count, MPI_Datatype type, int rank, int tag, MPI_Comm comm) {
  MPI_Request request = MPI_REQUEST_NULL;
  TRAFFIC_MPI(MPI_Isend(data, count, type, rank, tag, comm, &request));
  if (!wait(request, Deadline(grace_s(0)))) TRAFFIC_MPI(MPI_Request_free(&request));
}

void lead(MPI_Comm comm, int size, const std::string& what, double timeout_s) {
  const std::string problem = collect(comm, size, what, timeout_s);
  Verdict verdict{};
  copy_text(problem, verdict);
  for (int rank = 1; rank < size; ++rank) {
    post(verdict.data(), static_cast<int>(verdict.size()), MPI_CHAR, rank, kVerdictTag, comm);
  }
  if (!problem.empty()) throw CommError(problem);
}

void follow(MPI_Comm comm, int rank, const std::string& what, double timeout_s) {
  post(&rank, 1, MPI_INT, 0, kHelloTag, comm);
  Verdict verdict{};
  MPI_Request request = MPI_REQUEST_NULL;
  TRAFFIC_MPI(MPI_Irecv(verdict.data(), static_cast<int>(verdict.size()), MPI_CHAR, 0, kVerdictTag,
                        comm, &request));
  if (!wait(request, Deadline(timeout_s + grace_s(timeout_s)))) {
    TRAFFIC_MPI(MPI_Cancel(&request));
    TRAFFIC_MPI(MPI_Request_free(&request));
    throw CommError("{}: rank 0 did not come within {} s", what, timeout_s);
  }
  if (verdict[0] != '\0') throw CommError(std::string(verdict.data()));
}

}  // namespace

void rendezvous(MPI_Comm comm, const std::string& what, double timeout_s) {
  int rank = 0;
  int size = 1;
  TRAFFIC_MPI(MPI_Comm_rank(comm, &rank));
  TRAFFIC_MPI(MPI_Comm_size(comm, &size));
  if (size == 1) return;
  if (rank == 0) {
    lead(comm, size, what, timeout_s);
  } else {
    follow(comm, rank, what, timeout_s);
  }
}

}  // namespace traffic::comm
