#include "run/together.h"

#include <chrono>
#include <future>
#include <string>

namespace traffic::train {

void throw_together(comm::Communicator& communicator, const std::optional<Error>& mine) {
  const int size = communicator.size();
  const double first =
      communicator.all_reduce_scalar(mine ? communicator.rank() : size, comm::ReduceOp::kMin);
  if (first >= size) return;
  const int rank = static_cast<int>(first);
  const bool is_first = communicator.rank() == rank;
  const double code = communicator.all_reduce_scalar(
      is_first ? static_cast<double>(mine->code()) : 0.0, comm::ReduceOp::kMax);
  std::string what = communicator.broadcast_string(is_first ? mine->what() : "", rank);
  if (size > 1) what = fmt::format("rank {}: {}", rank, what);
  throw Error(what, static_cast<ExitCode>(code));
}

void together(comm::Communicator& communicator, const std::function<void()>& work) {
  std::optional<Error> failure;
  try {
    work();
  } catch (const Error& error) {
    failure = error;
  }
  throw_together(communicator, failure);
}

void together_at_length(comm::Communicator& communicator, const std::function<void()>& work) {
  constexpr std::chrono::seconds kBetweenMeetings{1};
  std::future<void> working;
  if (communicator.rank() == 0) working = std::async(std::launch::async, work);
  while (true) {
    const bool done =
        working.valid() && working.wait_for(kBetweenMeetings) == std::future_status::ready;
    if (communicator.all_reduce_scalar(done ? 1.0 : 0.0) > 0.0) break;
  }
  together(communicator, [&] {
    if (working.valid()) working.get();
  });
}

}  // namespace traffic::train
