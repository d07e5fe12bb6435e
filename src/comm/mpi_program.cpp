// The frame of main() of programs with MPI: starts MPI, runs the program and reports its failure.
#include <c10/util/Exception.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>

#include "job_end.h"
#include "mpi_check.h"
#include "traffic/comm/mpi_session.h"
#include "traffic/core/path_error.h"
#include "traffic/core/watchdog.h"
#include "transport.h"

namespace traffic::comm {
namespace {

/// Time limit for starting MPI in a job that failed before its session began. Such a job starts MPI
/// only to call end_all_ranks(), which ends the job without mpirun's own text.
constexpr double kSilentEnd_s = 30;
/// Time for which the other ranks wait for rank 0 to end the job. Rank 0 usually fails in the same
/// way as they do.
constexpr useconds_t kYieldToRank0_us = 2'000'000;

/// Removes the stack trace that torch appends to its messages.
std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

/// Prints why the session did not start. Before MPI is initialised all ranks usually fail in the
/// same way, so only rank 0 prints.
void report_no_session(const char* message) {
  int initialized = 0;
  MPI_Initialized(&initialized);
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const std::string name = rank == nullptr ? "0" : rank;
  if (initialized || name == "0") std::fprintf(stderr, "rank %s: %s\n", name.c_str(), message);
}

int run_body(MpiSession& session, const std::function<int(MpiSession&)>& body) {
  try {
    return body(session);
  } catch (const Error& error) {
    session.abort_job(error.code(), error.what());
  } catch (const std::filesystem::filesystem_error& error) {
    session.abort_job(ExitCode::kConfig, path_error_text(error));
  } catch (const std::bad_alloc&) {
    session.abort_job(ExitCode::kResources, "out of memory: use smaller batches or fewer ranks");
  } catch (const c10::OutOfMemoryError& error) {
    session.abort_job(ExitCode::kResources,
                      "out of GPU memory: " + first_line(error.what_without_backtrace()));
  } catch (const c10::AcceleratorError& error) {
    session.abort_job(ExitCode::kResources,
                      "the GPU failed: " + first_line(error.what_without_backtrace()));
  } catch (const std::exception& error) {
    session.abort_job(ExitCode::kInternal, first_line(error.what()));
  }
}

}  // namespace

int run_mpi_program(int argc, char** argv, const std::function<int(MpiSession&)>& body) {
  try {
    MpiSession session(&argc, &argv);
    const int code = run_body(session, body);
    session.set_exit_code(static_cast<ExitCode>(code));
    return code;
  } catch (const Error& error) {  // the session did not start
    report_no_session(error.what());
    return static_cast<int>(error.code());
  }
}

int fail_before_session(const Error& error) {
  const char* rank = std::getenv("OMPI_COMM_WORLD_RANK");
  const bool is_rank_0 = rank == nullptr || std::string_view(rank) == "0";
  if (is_rank_0) std::fprintf(stderr, "%s\n", error.what());
  if (is_under_mpirun()) {
    const Watchdog watchdog(kSilentEnd_s, [&] { _exit(static_cast<int>(error.code())); });
    choose_transport();
    MPI_Init(nullptr, nullptr);
    if (!is_rank_0) {
      usleep(kYieldToRank0_us);
      std::fprintf(stderr, "rank %s: %s\n", rank, error.what());
    }
    end_all_ranks(error.code());
  }
  return static_cast<int>(error.code());
}

}  // namespace traffic::comm
