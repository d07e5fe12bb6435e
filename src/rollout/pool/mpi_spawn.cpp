// The MPI calls of a pool's start: spawning rollout workers and exchanging data between ranks.
#include "mpi_spawn.h"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <vector>

#include "mpi_call.h"
#include "traffic/core/error.h"
#include "traffic/core/watchdog.h"

namespace traffic::rollout {
namespace {

/// An MPI_Info object that is freed at the end of its scope.
class Info {
 public:
  Info() { TRAFFIC_ROLLOUT_MPI(MPI_Info_create(&info_)); }
  ~Info() { MPI_Info_free(&info_); }
  Info(const Info&) = delete;
  Info& operator=(const Info&) = delete;
  void set(const char* key, const std::string& value) {
    TRAFFIC_ROLLOUT_MPI(MPI_Info_set(info_, key, value.c_str()));
  }
  [[nodiscard]] MPI_Info get() const { return info_; }

 private:
  MPI_Info info_ = MPI_INFO_NULL;
};

/// A communicator that contains only this rank and returns errors to the caller. With MPI's default
/// error handler, a failed spawn would end the rank without a message of this program.
class OwnComm {
 public:
  OwnComm() {
    TRAFFIC_ROLLOUT_MPI(MPI_Comm_dup(MPI_COMM_SELF, &comm_));
    TRAFFIC_ROLLOUT_MPI(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN));
  }
  ~OwnComm() { MPI_Comm_free(&comm_); }
  OwnComm(const OwnComm&) = delete;
  OwnComm& operator=(const OwnComm&) = delete;
  [[nodiscard]] MPI_Comm get() const { return comm_; }

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
};

}  // namespace

void spawn_workers(const WorkerSpawn& spawn) {
  const OwnComm self;
  const std::size_t n = spawn.nodes.size();
  std::vector<Info> infos(n);
  std::vector<MPI_Info> info_handles;
  std::vector<std::string> boards;
  std::vector<int> counts;
  int num_workers = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const NodeWorkers& node = spawn.nodes[i];
    // Without this key, MPI starts no further process if the ranks occupy all slots.
    infos[i].set("map_by", "slot:OVERSUBSCRIBE");
    // Without this key MPI would wait until each worker has called MPI_Init and has connected.
    infos[i].set("ompi_non_mpi", "true");
    infos[i].set("wdir", std::filesystem::current_path().string());
    // On a single machine the key is omitted: mpirun may not know the machine by its host name.
    if (n > 1) infos[i].set("host", node.host);
    info_handles.push_back(infos[i].get());
    boards.push_back(fmt::format("{}:{}", node.leader_pid, node.board_fd));
    counts.push_back(node.count);
    num_workers += node.count;
  }
  std::string program = spawn.program;
  std::string option = "--notices";
  std::vector<char*> programs(n, program.data());
  std::vector<std::array<char*, 3>> arguments;
  for (std::string& board : boards) arguments.push_back({option.data(), board.data(), nullptr});
  std::vector<char**> argvs;
  for (auto& argv : arguments) argvs.push_back(argv.data());
  std::vector<int> errors(static_cast<std::size_t>(num_workers), MPI_SUCCESS);
  {
    const Watchdog watchdog(spawn.timeout_s, spawn.on_timeout);
    MPI_Comm none = MPI_COMM_NULL;
    TRAFFIC_ROLLOUT_MPI(MPI_Comm_spawn_multiple(static_cast<int>(n), programs.data(), argvs.data(),
                                                counts.data(), info_handles.data(), 0, self.get(),
                                                &none, errors.data()));
  }
  for (const int error : errors) TRAFFIC_ROLLOUT_MPI(error);
}

void broadcast_from_rank0(int fortran_comm, void* bytes, int size) {
  TRAFFIC_ROLLOUT_MPI(MPI_Bcast(bytes, size, MPI_BYTE, 0, MPI_Comm_f2c(fortran_comm)));
}

void all_gather(int fortran_comm, const void* bytes, int size, void* of_all) {
  TRAFFIC_ROLLOUT_MPI(
      MPI_Allgather(bytes, size, MPI_BYTE, of_all, size, MPI_BYTE, MPI_Comm_f2c(fortran_comm)));
}

}  // namespace traffic::rollout
