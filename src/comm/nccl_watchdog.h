/// Watches collectives that run on the GPU, where the host does not wait: NCCL itself has no time
/// limits.
///
/// A thread looks at the oldest operation that is not done. If its deadline passes, or NCCL reports
/// an error (a peer is gone, the device is lost), the process ends at once with one line on stderr
/// and exit code 7. It does so by _exit: ncclCommAbort and the destructors of CUDA can hang for
/// ever in this state; mpirun then ends the other ranks.
#pragma once

#include <c10/cuda/CUDAEvent.h>

#include <condition_variable>
#include <deque>
#include <mutex>
#include <string>
#include <thread>

#include "nccl_check.h"
#include "traffic/comm/mpi_session.h"
#include "waiting.h"

namespace traffic::comm {

class NcclWatchdog {
 public:
  /// @param session,comm must outlive this
  NcclWatchdog(const MpiSession& session, ncclComm_t comm);
  /// Stops watching.
  ~NcclWatchdog() = default;
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;

  /// To be held while the communicator is used: NCCL's communicators are not thread-safe.
  [[nodiscard]] std::unique_lock<std::mutex> lock_comm() { return std::unique_lock(comm_mutex_); }

  /// @param done recorded behind the operation
  void watch(c10::cuda::CUDAEvent done, std::string operation, const Deadline& deadline);
  /// Waits until nothing is under way; operations that do not end are the thread's business.
  void drain();

 private:
  struct Operation {
    c10::cuda::CUDAEvent done;
    std::string name;
    Deadline deadline;
  };

  void run(const std::stop_token& stop);
  void check_comm();
  void check_operations();

  const MpiSession& session_;
  ncclComm_t comm_;
  std::mutex comm_mutex_;
  std::mutex mutex_;  ///< of operations_
  std::condition_variable_any changed_;
  std::deque<Operation> operations_;
  std::jthread thread_;  ///< last, so that it ends before what it uses
};

}  // namespace traffic::comm
