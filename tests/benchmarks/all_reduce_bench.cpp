// Measures all-reduce of tensors as large as gradients, and compares it with the speed of the
// memory.
//   OMPI_MCA_btl=self,vader launch/mpirun.sh -np 2 build/release/bin/bench_all_reduce
// all_reduce_nodes.sh measures between nodes. The variable OMPI_MCA_btl selects the fastest
// transport of MPI_Allreduce, which is measured only for comparison.
#include <ATen/ATen.h>
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <functional>
#include <vector>

#include "traffic/comm/communicator.h"
#include "traffic/core/clock.h"

namespace traffic::comm {
namespace {

constexpr int kWarmUps = 4;
constexpr int kRuns = 12;

struct Times {
  double median_ms;
  double best_ms;
};

/// Measures each action, started by all ranks at the same time. The actions take turns, so that
/// other load on the machine affects all of them.
std::vector<Times> measure(Communicator& communicator,
                           const std::vector<std::function<void()>>& actions) {
  std::vector<std::vector<double>> times(actions.size());
  for (int i = 0; i < kWarmUps + kRuns; ++i) {
    for (std::size_t a = 0; a < actions.size(); ++a) {
      communicator.barrier();
      const Stopwatch watch;
      actions[a]();
      if (i >= kWarmUps) times[a].push_back(1e3 * watch.seconds());
    }
  }
  std::vector<Times> found;
  for (auto& of_action : times) {
    std::ranges::sort(of_action);
    found.push_back({of_action[kRuns / 2], of_action[0]});
  }
  return found;
}

void print(const char* what, const Times& times) {
  std::printf(" | %s %.2f (%.2f)", what, times.median_ms, times.best_ms);
}

/// Moves as many bytes between nodes in each direction as an all-reduce must, by MPI alone. The
/// first rank of each node (its leader) sends them to the next leader and receives from the
/// previous one.
class LinkTraffic {
 public:
  LinkTraffic(const MpiSession& session, std::int64_t bytes)
      : session_(session),
        out_(static_cast<std::size_t>(2 * bytes * (session.num_nodes() - 1) / session.num_nodes())),
        in_(out_.size()) {}
  void exchange() {
    const Topology& topology = session_.topology();
    if (!topology.is_leader() || out_.empty()) return;
    const int n = topology.num_nodes();
    const auto leader = [&](int node) {
      return topology.leaders[static_cast<std::size_t>((node + n) % n)];
    };
    const auto count = static_cast<int>(out_.size());
    MPI_Sendrecv(out_.data(), count, MPI_BYTE, leader(topology.node() + 1), 0, in_.data(), count,
                 MPI_BYTE, leader(topology.node() - 1), 0, MPI_Comm_f2c(session_.fortran_comm()),
                 MPI_STATUS_IGNORE);
  }

 private:
  const MpiSession& session_;
  std::vector<std::byte> out_;
  std::vector<std::byte> in_;
};

void compare(const MpiSession& session, Communicator& communicator, std::int64_t count) {
  const at::Tensor arena = communicator.shared_zeros(count, at::kFloat);
  const at::Tensor plain = at::zeros({count});
  const at::Tensor other = at::zeros({count});
  const auto bytes = static_cast<std::int64_t>(plain.nbytes());
  const MPI_Comm world = MPI_Comm_f2c(session.fortran_comm());
  LinkTraffic link(session, bytes);
  const std::vector<Times> times = measure(
      communicator,
      {[&] { communicator.all_reduce(arena); }, [&] { communicator.all_reduce_scaled(arena, 0.5); },
       [&] { communicator.all_reduce(plain); },
       [&] {
         MPI_Allreduce(plain.const_data_ptr(), other.mutable_data_ptr(), static_cast<int>(count),
                       MPI_FLOAT, MPI_SUM, world);
       },
       // A lower bound of the time: an all-reduce must read and write each float of a rank at least
       // once, as memcpy does.
       [&] { std::memcpy(other.mutable_data_ptr(), plain.const_data_ptr(), plain.nbytes()); },
       [&] { link.exchange(); }});
  if (communicator.rank() != 0) return;
  const Times& in_arena = times[0];
  // "arena": memory shared by the ranks of a node, which all_reduce() sums without copying it.
  // "staged": other memory, which all_reduce() copies through buffers in shared memory.
  std::printf("ranks %d, floats %lld, times in ms: median (best)", communicator.size(),
              static_cast<long long>(count));
  print("arena", in_arena);
  print("arena with mean and norm", times[1]);
  print("staged", times[2]);
  print("MPI_Allreduce", times[3]);
  print("memcpy", times[4]);
  std::printf(" | arena / memcpy %.2f", in_arena.median_ms / times[4].median_ms);
  if (session.num_nodes() > 1) {
    print("as many bytes between nodes", times[5]);
    const double n = session.num_nodes();
    std::printf(" | arena %.2f Gbit/s each way, arena / link %.2f",
                2.0 * static_cast<double>(bytes) * (n - 1.0) / n * 8e-6 / in_arena.median_ms,
                in_arena.median_ms / times[5].median_ms);
  }
  std::printf("\n");
}

double barrier_us(Communicator& communicator) {
  constexpr int kBarriers = 1000;
  communicator.barrier();
  const Stopwatch watch;
  for (int i = 0; i < kBarriers; ++i) communicator.barrier();
  return 1e6 * watch.seconds() / kBarriers;
}

int run(MpiSession& session) {
  const auto communicator = make_communicator(session, at::kCPU, {});
  for (const std::int64_t count : {1'000'000, 4'000'000, 15'000'000}) {
    compare(session, *communicator, count);
  }
  const double barrier = barrier_us(*communicator);
  if (session.rank() == 0) std::printf("barrier %.1f us\n", barrier);
  return 0;
}

}  // namespace
}  // namespace traffic::comm

int main(int argc, char** argv) {
  return traffic::comm::run_mpi_program(argc, argv, traffic::comm::run);
}
