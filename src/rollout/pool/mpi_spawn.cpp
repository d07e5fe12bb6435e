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

}  // namespace

struct SpawnedWorkers::Link {
  MPI_Comm self = MPI_COMM_NULL;
  MPI_Comm workers = MPI_COMM_NULL;
};

SpawnedWorkers::SpawnedWorkers(const WorkerSpawn& spawn) : link_(std::make_shared<Link>()) {
  // Returned errors, or a failed spawn ends this rank without a word.
  TRAFFIC_ROLLOUT_MPI(MPI_Comm_dup(MPI_COMM_SELF, &link_->self));
  TRAFFIC_ROLLOUT_MPI(MPI_Comm_set_errhandler(link_->self, MPI_ERRORS_RETURN));
  Info info;
  // Without it `mpirun -np 2` on two slots cannot spawn.
  info.set("map_by", "slot:OVERSUBSCRIBE");
  info.set("wdir", std::filesystem::current_path().string());
  std::string memory = fmt::format("{}:{}", spawn.memory_pid, spawn.memory_fd);
  std::string option = "--memory";
  std::array<char*, 3> argv{option.data(), memory.data(), nullptr};
  std::vector<int> errors(static_cast<std::size_t>(spawn.count), MPI_SUCCESS);
  {
    const Watchdog watchdog(spawn.timeout_s, spawn.on_timeout);
    TRAFFIC_ROLLOUT_MPI(MPI_Comm_spawn(spawn.program.c_str(), argv.data(), spawn.count, info.get(),
                                       0, link_->self, &link_->workers, errors.data()));
  }
  for (const int error : errors) TRAFFIC_ROLLOUT_MPI(error);
}

void SpawnedWorkers::disconnect() {
  int finalized = 0;
  MPI_Finalized(&finalized);
  if (!link_ || finalized != 0) return;
  if (link_->workers != MPI_COMM_NULL) MPI_Comm_disconnect(&link_->workers);
  if (link_->self != MPI_COMM_NULL) MPI_Comm_free(&link_->self);
  link_.reset();
}

void broadcast_from_rank0(int fortran_comm, void* bytes, int size) {
  TRAFFIC_ROLLOUT_MPI(MPI_Bcast(bytes, size, MPI_BYTE, 0, MPI_Comm_f2c(fortran_comm)));
}

}  // namespace traffic::rollout
