/// MPI for the life of a program: who this rank is, and how a job ends when one rank fails.
///
/// One session a process, made first in main (run_mpi_program does it) and destroyed last, in the
/// thread that makes all MPI calls (MPI_THREAD_SERIALIZED is asked for). It also works without
/// mpirun, as the only rank.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "traffic/comm/topology.h"
#include "traffic/core/error.h"

namespace traffic::comm {

class MpiSession {
 public:
  /// Starts MPI and waits up to a minute for all ranks to say that they are there.
  /// @throws ConfigError under mpirun --enable-recovery: a dead rank would leave the others waiting
  /// @throws CommError if MPI does not start or a rank does not come
  MpiSession(int* argc, char*** argv);
  /// Ends MPI together with all ranks. While an exception unwinds the stack the others cannot be
  /// expected to come: then the job is aborted.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] int rank() const { return topology_.rank; }
  [[nodiscard]] int size() const { return topology_.size; }
  [[nodiscard]] int local_rank() const { return topology_.local_rank(); }
  [[nodiscard]] int local_size() const { return topology_.local_size(); }
  [[nodiscard]] int num_nodes() const { return topology_.num_nodes(); }

  /// The session's own communicator of all ranks (errors are returned, not fatal) for
  /// MPI_Comm_f2c: this header stays free of mpi.h.
  [[nodiscard]] int fortran_comm() const;

  /// Waits until all ranks are here.
  /// @throws CommError naming the ranks that did not come in time
  void rendezvous(const std::string& what, double timeout_s) const;

  /// The exit code of the whole job, the same on all ranks, if nothing fails from now on. Ranks
  /// with another code than 0 end in the destructor, so that mpirun does not explain them.
  void set_exit_code(ExitCode code) noexcept { code_ = code; }

  /// Ends the whole job: one line on stderr that names this rank, and no text of mpirun; mpirun
  /// returns the code. If another rank of this node failed before, its line and code stand and this
  /// rank only waits for its end, so that the first failure is the one that is read.
  [[noreturn]] void abort_job(ExitCode code, const std::string& message) const noexcept;

  /// As abort_job, but touches neither MPI nor any destructor, for any thread and for libraries
  /// that hang in their own clean-up: mpirun ends the other ranks within about a second.
  [[noreturn]] void exit_now(ExitCode code, const std::string& message) const noexcept;

 private:
  struct State;
  void report_first_failure(ExitCode code, const std::string& message) const noexcept;

  std::unique_ptr<State> state_;
  Topology topology_;
  ExitCode code_ = ExitCode::kDone;
};

/// Runs body under a session and turns what it throws into one line on stderr and the exit code of
/// the whole job (an Error's own code, 8 for lack of memory, 1 for anything else).
/// Under mpirun a job with another code than 0 ends here, without a return.
/// @return the program's exit code
int run_mpi_program(int argc, char** argv, const std::function<int(MpiSession&)>& body);

/// For an error before the session, which all ranks usually make alike: prints it once, as one line
/// on stderr. Under mpirun it ends the job without a text of mpirun and does not return.
/// @return the program's exit code
int fail_before_session(const Error& error);

}  // namespace traffic::comm
