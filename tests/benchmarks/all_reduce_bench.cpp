// All-reduce of gradient-sized tensors, next to what the memory allows.
//   launch/mpirun.sh -np 2 build/release/bin/bench_all_reduce
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
constexpr int kRuns = 20;

/// Median milliseconds of action, started by all ranks together.
double median_ms(Communicator& communicator, const std::function<void()>& action) {
  std::vector<double> times;
  for (int i = 0; i < kWarmUps + kRuns; ++i) {
    communicator.barrier();
    const Stopwatch watch;
    action();
    if (i >= kWarmUps) times.push_back(1e3 * watch.seconds());
  }
  std::ranges::nth_element(times, times.begin() + kRuns / 2);
  return times[kRuns / 2];
}

void measure(const MpiSession& session, Communicator& communicator, std::int64_t count) {
  const at::Tensor arena = communicator.shared_zeros(count, at::kFloat);
  const at::Tensor plain = at::zeros({count});
  const at::Tensor other = at::zeros({count});
  // Every rank copies as many floats: reads and writes once what the all-reduce must.
  const double copy = median_ms(communicator, [&] {
    std::memcpy(other.mutable_data_ptr(), plain.const_data_ptr(), plain.nbytes());
  });
  const double in_arena = median_ms(communicator, [&] { communicator.all_reduce(arena); });
  const double scaled =
      median_ms(communicator, [&] { communicator.all_reduce_scaled(arena, 0.5); });
  const double staged = median_ms(communicator, [&] { communicator.all_reduce(plain); });
  const MPI_Comm world = MPI_Comm_f2c(session.fortran_comm());
  const double mpi = median_ms(communicator, [&] {
    MPI_Allreduce(plain.const_data_ptr(), other.mutable_data_ptr(), static_cast<int>(count),
                  MPI_FLOAT, MPI_SUM, world);
  });
  if (communicator.rank() != 0) return;
  std::printf(
      "ranks %d floats %9lld | arena %6.2f ms = %.2f x memcpy | with mean and norm %6.2f ms | "
      "staged %6.2f ms | MPI_Allreduce %6.2f ms | memcpy %6.2f ms\n",
      communicator.size(), static_cast<long long>(count), in_arena, in_arena / copy, scaled, staged,
      mpi, copy);
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
    measure(session, *communicator, count);
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
