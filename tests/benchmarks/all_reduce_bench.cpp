// All-reduce of gradient-sized tensors, next to what the memory allows.
//   OMPI_MCA_btl=self,vader launch/mpirun.sh -np 2 build/release/bin/bench_all_reduce
// Between nodes: all_reduce_nodes.sh.
// (The variable gives MPI_Allreduce, which stands there for comparison only, its fastest
// transport.)
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

/// Of action, started by all ranks together.
Times measure(Communicator& communicator, const std::function<void()>& action) {
  std::vector<double> times;
  for (int i = 0; i < kWarmUps + kRuns; ++i) {
    communicator.barrier();
    const Stopwatch watch;
    action();
    if (i >= kWarmUps) times.push_back(1e3 * watch.seconds());
  }
  std::ranges::sort(times);
  return {times[kRuns / 2], times[0]};
}

void print(const char* what, const Times& times) {
  std::printf(" | %s %.2f (%.2f)", what, times.median_ms, times.best_ms);
}

/// As many bytes each way between nodes as an all-reduce must move, by MPI alone: every leader
/// sends them to the next one and gets them from the one before.
Times measure_link(const MpiSession& session, Communicator& communicator, std::int64_t bytes) {
  const auto& leaders = session.topology().leaders;
  const auto n = static_cast<std::int64_t>(leaders.size());
  const auto volume = static_cast<std::size_t>(2 * bytes * (n - 1) / n);
  std::vector<std::byte> out(volume);
  std::vector<std::byte> in(volume);
  const auto leader = [&](std::int64_t node) {
    return leaders[static_cast<std::size_t>(node % n)];
  };
  const std::int64_t node = session.topology().node();
  const MPI_Comm world = MPI_Comm_f2c(session.fortran_comm());
  return measure(communicator, [&] {
    if (!session.topology().is_leader()) return;
    MPI_Sendrecv(out.data(), static_cast<int>(volume), MPI_BYTE, leader(node + 1), 0, in.data(),
                 static_cast<int>(volume), MPI_BYTE, leader(node + n - 1), 0, world,
                 MPI_STATUS_IGNORE);
  });
}

void compare(const MpiSession& session, Communicator& communicator, std::int64_t count) {
  const at::Tensor arena = communicator.shared_zeros(count, at::kFloat);
  const at::Tensor plain = at::zeros({count});
  const at::Tensor other = at::zeros({count});
  const Times in_arena = measure(communicator, [&] { communicator.all_reduce(arena); });
  const Times scaled = measure(communicator, [&] { communicator.all_reduce_scaled(arena, 0.5); });
  const Times staged = measure(communicator, [&] { communicator.all_reduce(plain); });
  const MPI_Comm world = MPI_Comm_f2c(session.fortran_comm());
  const Times mpi = measure(communicator, [&] {
    MPI_Allreduce(plain.const_data_ptr(), other.mutable_data_ptr(), static_cast<int>(count),
                  MPI_FLOAT, MPI_SUM, world);
  });
  // Every rank copies as many floats: reads and writes once what the all-reduce must.
  const Times copy = measure(communicator, [&] {
    std::memcpy(other.mutable_data_ptr(), plain.const_data_ptr(), plain.nbytes());
  });
  const bool has_links = session.num_nodes() > 1;
  const auto bytes = static_cast<std::int64_t>(plain.nbytes());
  const Times link = has_links ? measure_link(session, communicator, bytes) : Times{};
  if (communicator.rank() != 0) return;
  std::printf("ranks %d floats %lld ms median (best)", communicator.size(),
              static_cast<long long>(count));
  print("arena", in_arena);
  print("arena with mean and norm", scaled);
  print("staged", staged);
  print("MPI_Allreduce", mpi);
  print("memcpy", copy);
  std::printf(" | arena / memcpy %.2f", in_arena.median_ms / copy.median_ms);
  if (has_links) {
    print("as many bytes between nodes", link);
    const double n = session.num_nodes();
    std::printf(" | arena %.2f Gbit/s each way, arena / link %.2f",
                2.0 * static_cast<double>(bytes) * (n - 1.0) / n * 8e-6 / in_arena.median_ms,
                in_arena.median_ms / link.median_ms);
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
