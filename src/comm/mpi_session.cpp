// MpiSession: starts and ends MPI, finds the nodes of the ranks, and ends the job if a rank fails.
#include "traffic/comm/mpi_session.h"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <functional>
#include <new>
#include <thread>

#include "job_end.h"
#include "launcher_end.h"
#include "mpi_check.h"
#include "node_segment.h"
#include "rendezvous.h"
#include "traffic/core/process.h"
#include "traffic/core/watchdog.h"
#include "transport.h"

namespace traffic::comm {
namespace {

constexpr double kInitTimeoutS = 300;  ///< for MPI's own start; long enough for thousands of ranks
constexpr double kStartTimeoutS = 60;  ///< for all ranks to reach the rendezvous after MPI's start
constexpr double kEndTimeoutS = 60;    ///< for all ranks to reach the rendezvous before MPI's end
/// How long a rank that fails later waits for the first failing rank of its node to end the job.
constexpr auto kYieldToFirst = std::chrono::seconds(5);
/// Seconds that mpirun has to end a job on several machines after an abort; then it is killed.
constexpr double kAbortS = 20;

/// State in memory that the ranks of a node share. It tells a failing rank whether it is the first.
struct JobBoard {
  std::atomic<int> failed;  ///< 0; 1 once a rank has reported its failure
};
static_assert(std::atomic<int>::is_always_lock_free);

void refuse_recovery_mode() {
  const char* value = std::getenv("OMPI_MCA_orte_enable_recovery");
  if (value == nullptr || std::strcmp(value, "0") == 0 || std::strcmp(value, "false") == 0) return;
  throw ConfigError(
      "mpirun --enable-recovery (OMPI_MCA_orte_enable_recovery={}) keeps a job alive when a rank "
      "has died, and the other ranks would wait for the dead one: start without this option",
      value);
}

/// Detects that srun has no matching MPI plug-in. Each of its tasks is then the only rank of a job
/// of its own.
void refuse_tasks_that_do_not_know_each_other() {
  const char* tasks = std::getenv("SLURM_STEP_NUM_TASKS");
  if (tasks == nullptr || is_under_mpirun() || std::atoi(tasks) < 2) return;
  int size = 1;
  TRAFFIC_MPI(MPI_Comm_size(MPI_COMM_WORLD, &size));
  if (size > 1) return;
  throw ConfigError(
      "srun has started {} tasks that do not know each other: this MPI and this SLURM have no "
      "plug-in in common (srun --mpi=list); start the ranks with mpirun inside of the job, as "
      "launch/slurm/train.sbatch does, or with srun --mpi=pmix",
      tasks);
}

void write_line(const std::string& text) noexcept {
  std::size_t written = 0;
  while (written < text.size()) {
    const ssize_t n = write(STDERR_FILENO, text.data() + written, text.size() - written);
    if (n <= 0) return;  // stderr is closed; the exit code still tells of the failure
    written += static_cast<std::size_t>(n);
  }
}

/// MPI's own calls take no deadline, so a Watchdog runs the returned action if a call takes longer.
/// @return an action that prints a message and ends this process; mpirun then ends the job
std::function<void()> give_up_on(const char* call, double timeout_s) {
  return [call, timeout_s] {
    write_line(
        fmt::format("{} on {} did not return within {} s: a rank or a machine of the job "
                    "does not answer (exit code {})\n",
                    call, hostname(), timeout_s, static_cast<int>(ExitCode::kPeerLost)));
    _exit(static_cast<int>(ExitCode::kPeerLost));
  };
}

/// @return [size] for each rank the lowest rank of its node. Ranks with equal entries share memory
std::vector<int> find_nodes(MPI_Comm world, MPI_Comm node, int rank, int size) {
  int leader = rank;
  TRAFFIC_MPI(MPI_Bcast(&leader, 1, MPI_INT, 0, node));
  std::vector<int> leaders(static_cast<std::size_t>(size));
  TRAFFIC_MPI(MPI_Allgather(&leader, 1, MPI_INT, leaders.data(), 1, MPI_INT, world));
  return leaders;
}

}  // namespace

struct MpiSession::State {
  MpiComm world;
  NodeMemory board;
  int exceptions_before = std::uncaught_exceptions();
};

MpiSession::MpiSession(int* argc, char*** argv) : state_(std::make_unique<State>()) {
  refuse_recovery_mode();
  choose_transport();
  int provided = 0;
  {
    const Watchdog watchdog(kInitTimeoutS, give_up_on("MPI_Init_thread", kInitTimeoutS));
    check_mpi(MPI_Init_thread(argc, argv, MPI_THREAD_SERIALIZED, &provided), "MPI_Init_thread");
  }
  refuse_tasks_that_do_not_know_each_other();
  if (provided < MPI_THREAD_SERIALIZED) {
    throw CommError(
        "this MPI supports thread level {}, but the program needs level {} (MPI_THREAD_SERIALIZED)",
        provided, static_cast<int>(MPI_THREAD_SERIALIZED));
  }
  MPI_Comm world = MPI_COMM_NULL;
  check_mpi(MPI_Comm_dup(MPI_COMM_WORLD, &world), "MPI_Comm_dup");
  state_->world = MpiComm(world);
  check_mpi(MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
  int rank = 0;
  int size = 1;
  TRAFFIC_MPI(MPI_Comm_rank(world, &rank));
  TRAFFIC_MPI(MPI_Comm_size(world, &size));
  rendezvous("start of the job", kStartTimeoutS);

  const Watchdog watchdog(kInitTimeoutS, give_up_on("the search for nodes", kInitTimeoutS));
  MPI_Comm node = MPI_COMM_NULL;
  TRAFFIC_MPI(MPI_Comm_split_type(world, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &node));
  const MpiComm node_owner(node);
  topology_ = make_topology(rank, find_nodes(world, node, rank, size));
  state_->board = share_on_node(node, sizeof(JobBoard), kStartTimeoutS);
}

MpiSession::~MpiSession() {
  if (std::uncaught_exceptions() > state_->exceptions_before) {
    abort_job(ExitCode::kInternal, "an exception ended the MPI session early");
  }
  try {
    rendezvous("end of the job", kEndTimeoutS);
  } catch (const std::exception& error) {
    abort_job(ExitCode::kPeerLost, error.what());
  }
  state_.reset();
  const Watchdog watchdog(kEndTimeoutS, give_up_on("MPI_Finalize", kEndTimeoutS));
  if (code_ != ExitCode::kDone && is_under_mpirun()) end_all_ranks_together(code_);
  MPI_Finalize();
}

int MpiSession::fortran_comm() const { return MPI_Comm_c2f(state_->world.get()); }

void MpiSession::rendezvous(const std::string& what, double timeout_s) const {
  comm::rendezvous(state_->world.get(), what, timeout_s);
}

void MpiSession::report_first_failure(ExitCode code, const std::string& message) const noexcept {
  // The shared memory is created with zeros, which is a valid atomic<int> of value 0.
  auto* board = reinterpret_cast<JobBoard*>(state_->board.data());
  if (board != nullptr && board->failed.exchange(1) != 0) {
    std::this_thread::sleep_for(kYieldToFirst);
  }
  write_line(fmt::format("rank {} of {} on {}: {} (exit code {})\n", rank(), size(), hostname(),
                         message, static_cast<int>(code)));
}

void MpiSession::abort_job(ExitCode code, const std::string& message) const noexcept {
  report_first_failure(code, message);
  if (num_nodes() > 1) end_launcher_later(kAbortS);
  end_all_ranks(code);
}

void MpiSession::exit_now(ExitCode code, const std::string& message) const noexcept {
  report_first_failure(code, message);
  if (num_nodes() > 1) end_launcher_later(kAbortS);
  _exit(static_cast<int>(code));
}

}  // namespace traffic::comm
