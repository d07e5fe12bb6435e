// Measures collectives between nodes with one rank each, and compares their durations with the
// model in docs/design/scaling.md. Usage: bench_nodes_model RATE_MBIT     (nodes_model.sh creates
// the nodes and the links)
#include <ATen/ATen.h>
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <vector>

#include "traffic/comm/communicator.h"
#include "traffic/core/clock.h"

namespace traffic::comm {
namespace {

/// Share of a link's rate that TCP and Ethernet leave for data: 1448 of 1514 bytes.
constexpr double kPayload = 1448.0 / 1514.0;

/// Median duration of an action that all ranks start together. Each measurement repeats the action
/// `times` times. Without that a short action would seem too fast on the rank that leaves the
/// barrier last, because the data of the others have already arrived.
double median_ms(Communicator& communicator, int times, const std::function<void()>& action) {
  constexpr int kRuns = 7;
  std::vector<double> found;
  for (int i = -2; i < kRuns; ++i) {
    communicator.barrier();
    const Stopwatch watch;
    for (int j = 0; j < times; ++j) action();
    if (i >= 0) found.push_back(1e3 * watch.seconds() / times);
  }
  std::ranges::sort(found);
  return found[kRuns / 2];
}

/// Half of the round-trip time of a byte between ranks 0 and 1, through MPI.
double one_way_ms(const MpiSession& session, Communicator& communicator) {
  const MPI_Comm world = MPI_Comm_f2c(session.fortran_comm());
  char byte = 0;
  return median_ms(communicator, 200,
                   [&] {
                     if (session.rank() > 1 || session.size() == 1) return;
                     const int peer = 1 - session.rank();
                     if (session.rank() == 0) MPI_Send(&byte, 1, MPI_CHAR, peer, 0, world);
                     MPI_Recv(&byte, 1, MPI_CHAR, peer, 0, world, MPI_STATUS_IGNORE);
                     if (session.rank() == 1) MPI_Send(&byte, 1, MPI_CHAR, peer, 0, world);
                   }) /
         2;
}

/// The model of docs/design/scaling.md for n nodes, each with one part of the sum.
struct Model {
  double one_way_ms;
  double bytes_per_ms;
  double nodes;
  [[nodiscard]] double sum_ms(double bytes) const {
    return nodes == 1 ? 0.0 : 3 * one_way_ms + 2 * bytes * (nodes - 1) / nodes / bytes_per_ms;
  }
  [[nodiscard]] double broadcast_ms(double bytes) const {
    return nodes == 1 ? 0.0 : 2 * one_way_ms + bytes * (nodes - 1) / bytes_per_ms;
  }
};

int run(MpiSession& session, double rate_mbit) {
  const auto communicator = make_communicator(session, at::kCPU, {});
  const Model model{.one_way_ms = one_way_ms(session, *communicator),
                    .bytes_per_ms = rate_mbit * 125.0 * kPayload,
                    .nodes = static_cast<double>(session.num_nodes())};
  const auto print = [&](const char* what, double bytes, double predicted, double measured) {
    if (communicator->rank() != 0) return;
    std::printf("| %d | %s of %.0f bytes | %.2f | %.2f |", communicator->size(), what, bytes,
                predicted, measured);
    if (predicted > 0.0) std::printf(" %.2f", measured / predicted);
    std::printf("\n");
    std::fflush(stdout);
  };
  if (communicator->rank() == 0) {
    std::printf("%d nodes, %g Mbit/s each way, one way %.3f ms\n", session.num_nodes(), rate_mbit,
                model.one_way_ms);
  }
  constexpr std::int64_t kController = 22'900;
  for (const std::int64_t count :
       {std::int64_t{1}, kController, std::int64_t{1'000'000}, std::int64_t{4'000'000}}) {
    const at::Tensor arena = communicator->shared_zeros(count, at::kFloat);
    const auto bytes = static_cast<double>(arena.nbytes());
    print("sum", bytes, model.sum_ms(bytes),
          median_ms(*communicator, bytes < 1e6 ? 20 : 1, [&] { communicator->all_reduce(arena); }));
  }
  const at::Tensor state = at::zeros({1'000'000});
  const auto bytes = static_cast<double>(state.nbytes());
  print("broadcast", bytes, model.broadcast_ms(bytes),
        median_ms(*communicator, 1, [&] { communicator->broadcast(state, 0); }));
  return 0;
}

}  // namespace
}  // namespace traffic::comm

int main(int argc, char** argv) {
  const double rate_mbit = argc > 1 ? std::atof(argv[1]) : 0.0;
  return traffic::comm::run_mpi_program(argc, argv, [&](traffic::comm::MpiSession& session) {
    return traffic::comm::run(session, rate_mbit);
  });
}
