#include "doctor/communication.h"

#include <torch/types.h>

#include <algorithm>
#include <memory>
#include <string>

#include "doctor/findings.h"
#include "traffic/core/clock.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

/// Seconds in which the ranks sum a single number, mean of 50 sums. Collective.
double time_of_a_number(comm::Communicator& communicator) {
  constexpr int kNumbers = 50;
  communicator.barrier();
  const Stopwatch clock;
  for (int i = 0; i < kNumbers; ++i) communicator.all_reduce_scalar(1.0);
  return clock.seconds() / kNumbers;
}

}  // namespace

Finding measure_communication(comm::Communicator& communicator, const comm::Topology& topology) {
  constexpr std::int64_t kValues = std::int64_t{1} << 22;
  constexpr int kTimes = 5;
  const at::Tensor values = communicator.shared_zeros(kValues, at::kFloat);
  double best_s = 0.0;
  bool exact = true;
  for (int i = 0; i < kTimes; ++i) {
    values.fill_(static_cast<double>(communicator.rank() + 1));
    communicator.barrier();
    const Stopwatch clock;
    communicator.all_reduce(values);
    const double sum = values[kValues - 1].item<double>();  // waits for the GPU
    const double mine_s = clock.seconds();
    const int n = communicator.size();
    exact = exact && sum == n * (n + 1) / 2.0;
    best_s = i == 0 ? mine_s : std::min(best_s, mine_s);
  }
  const double number_s = time_of_a_number(communicator);
  const std::string what = fmt::format("{} between {} rank{} on {} node{}",
                                       communicator.device().is_cuda() ? "NCCL" : "MPI",
                                       topology.size, topology.size == 1 ? "" : "s",
                                       topology.num_nodes(), topology.num_nodes() == 1 ? "" : "s");
  if (!exact) {
    return {.verdict = Verdict::kFailed,
            .subject = "communication",
            .found = what + ": a sum over the ranks is wrong",
            .code = ExitCode::kPeerLost};
  }
  return {.subject = "communication",
          .found = fmt::format("{}: 16 MiB of gradients are summed in {}, one number in {:.0f} us",
                               what, human_duration(best_s), 1e6 * number_s)};
}

Finding examine_gpu_communication(const comm::MpiSession& session, at::Device device,
                                  const config::Comm& comm) {
  std::unique_ptr<comm::Communicator> gpus;
  const Finding connected = attempt("communication", [&] {
    gpus = comm::make_communicator(session, device, comm);
    return std::string();
  });
  if (connected.verdict == Verdict::kFailed) return connected;
  return measure_communication(*gpus, session.topology());
}

}  // namespace traffic::train
