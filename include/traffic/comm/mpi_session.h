/// MpiSession starts MPI, tells which rank this process is, and ends the whole job when one rank
/// fails.
///
/// Each process has one session. Programs call run_mpi_program in main; it creates the session
/// first and destroys it last, in the thread that makes all MPI calls (MPI_THREAD_SERIALIZED).
/// Without mpirun the process is the only rank.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "traffic/comm/topology.h"
#include "traffic/core/error.h"

namespace traffic::comm {

class MpiSession {
 public:
  /// Starts MPI and waits up to a minute for all ranks to report. If MPI's own start takes longer
  /// than five minutes, the process ends with exit code 7.
  /// @throws ConfigError under mpirun --enable-recovery, where the other ranks would wait for a
  ///   dead rank; or if srun has started several tasks that are not ranks of one job
  /// @throws CommError if MPI reports an error or a rank does not report
  MpiSession(int* argc, char*** argv);
  /// Finalises MPI together with all ranks. If an exception is unwinding the stack, the other ranks
  /// may never arrive, so the job is aborted instead.
  ~MpiSession();
  MpiSession(const MpiSession&) = delete;
  MpiSession& operator=(const MpiSession&) = delete;

  [[nodiscard]] const Topology& topology() const { return topology_; }
  [[nodiscard]] int rank() const { return topology_.rank; }
  [[nodiscard]] int size() const { return topology_.size; }
  [[nodiscard]] int local_rank() const { return topology_.local_rank(); }
  [[nodiscard]] int local_size() const { return topology_.local_size(); }
  [[nodiscard]] int num_nodes() const { return topology_.num_nodes(); }

  /// The MPI communicator of all ranks as a Fortran handle for MPI_Comm_f2c, so that this header
  /// needs no mpi.h. MPI calls on this communicator return errors instead of ending the job.
  [[nodiscard]] int fortran_comm() const;

  /// Waits until all ranks have called it.
  /// @param what the occasion, for the error
  /// @throws CommError naming the ranks that did not arrive in time
  void rendezvous(const std::string& what, double timeout_s) const;

  /// Sets the exit code of the whole job, which must be the same on all ranks. If the code is not 0
  /// under mpirun, the destructor ends the process, so that mpirun prints no explanation of its
  /// own.
  void set_exit_code(ExitCode code) noexcept { code_ = code; }

  /// Ends the whole job. Writes one line to stderr that names this rank, suppresses mpirun's own
  /// text, and makes mpirun return the code. If another rank of this node has failed before, this
  /// rank first gives that rank some seconds to end the job, so that users see the first failure.
  [[noreturn]] void abort_job(ExitCode code, const std::string& message) const noexcept;

  /// Like abort_job, but uses neither MPI nor destructors. Any thread may call it, also while a
  /// library hangs in its own clean-up; mpirun ends the other ranks within about a second.
  [[noreturn]] void exit_now(ExitCode code, const std::string& message) const noexcept;

 private:
  struct State;
  void report_first_failure(ExitCode code, const std::string& message) const noexcept;

  std::unique_ptr<State> state_;
  Topology topology_;
  ExitCode code_ = ExitCode::kDone;
};

/// Creates the session and runs `body` with it. An exception becomes one line on stderr and the
/// exit code of the whole job: an Error's own code, 8 for lack of memory or a failed GPU, or 1 for
/// any other exception. Under mpirun a job with another code than 0 ends inside this function.
/// @return the program's exit code
int run_mpi_program(int argc, char** argv, const std::function<int(MpiSession&)>& body);

/// Reports an error that occurs before the session begins, as one line on stderr. Usually all ranks
/// fail with the same error. The other ranks therefore first give rank 0 two seconds to print it
/// and to end the job. Under mpirun this function suppresses mpirun's own text and does not return.
/// @return the program's exit code
int fail_before_session(const Error& error);

}  // namespace traffic::comm
