// NcclWatchdog: a thread that ends the process if an NCCL operation fails or does not end in time.
#include "nccl_watchdog.h"

#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <utility>

namespace traffic::comm {
namespace {

constexpr auto kInterval = std::chrono::milliseconds(100);

}  // namespace

NcclWatchdog::NcclWatchdog(const MpiSession& session, ncclComm_t comm)
    : session_(session), comm_(comm), thread_([this](const std::stop_token& stop) { run(stop); }) {}

void NcclWatchdog::watch(c10::cuda::CUDAEvent done, std::string operation,
                         const Deadline& deadline) {
  const std::lock_guard lock(mutex_);
  operations_.push_back({std::move(done), std::move(operation), deadline});
}

void NcclWatchdog::drain() {
  Backoff backoff;
  for (;; backoff.pause()) {
    const std::lock_guard lock(mutex_);
    while (!operations_.empty() && operations_.front().done.query()) operations_.pop_front();
    if (operations_.empty()) return;
  }
}

void NcclWatchdog::run(const std::stop_token& stop) {
  try {
    while (!stop.stop_requested()) {
      check_comm();
      check_operations();
      std::unique_lock lock(mutex_);
      changed_.wait_for(lock, stop, kInterval, [] { return false; });
    }
  } catch (const std::exception& error) {
    // The error comes from NCCL, or from CUDA when the device is lost; torch appends a stack trace.
    const std::string text = error.what();
    session_.exit_now(ExitCode::kPeerLost, text.substr(0, text.find('\n')));
  }
}

void NcclWatchdog::check_comm() {
  const std::unique_lock lock(comm_mutex_, std::try_to_lock);
  if (!lock.owns_lock()) return;  // another thread uses the communicator and checks for errors
  ncclResult_t state = ncclSuccess;
  TRAFFIC_NCCL(ncclCommGetAsyncError(comm_, &state));
  check_nccl(state, "an NCCL operation in progress");
}

void NcclWatchdog::check_operations() {
  const std::lock_guard lock(mutex_);
  while (!operations_.empty() && operations_.front().done.query()) operations_.pop_front();
  if (operations_.empty() || !operations_.front().deadline.passed()) return;
  session_.exit_now(
      ExitCode::kPeerLost,
      fmt::format(
          "{} did not finish on the GPU within {} s (comm.timeout_s), although all ranks had "
          "called it: a rank was lost or its GPU hangs; see the logs of the other ranks",
          operations_.front().name, operations_.front().deadline.limit_s()));
}

}  // namespace traffic::comm
