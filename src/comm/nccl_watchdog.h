/// NcclWatchdog ends the process if an NCCL operation on the GPU fails or does not finish in time.
/// NCCL itself has no time limits, and the CPU does not wait for the operations.
///
/// A thread checks the oldest unfinished operation. If its deadline passes, or NCCL reports an
/// error (a peer is gone, the device is lost), the process ends at once with one line on stderr and
/// exit code 7. It uses _exit, because ncclCommAbort and the destructors of CUDA can hang for ever
/// in this state; mpirun then ends the other ranks.
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
  /// @param session, comm both must outlive this object
  NcclWatchdog(const MpiSession& session, ncclComm_t comm);
  /// Stops watching.
  ~NcclWatchdog() = default;
  NcclWatchdog(const NcclWatchdog&) = delete;
  NcclWatchdog& operator=(const NcclWatchdog&) = delete;

  /// Hold this lock while using the communicator: NCCL's communicators are not thread-safe.
  [[nodiscard]] std::unique_lock<std::mutex> lock_comm() { return std::unique_lock(comm_mutex_); }

  /// Watches one operation that was enqueued on the GPU.
  /// @param done event recorded after the operation
  void watch(c10::cuda::CUDAEvent done, std::string operation, const Deadline& deadline);
  /// Waits until no operation is in progress. If an operation never ends, the watching thread ends
  /// the process at the operation's deadline.
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
  std::mutex mutex_;  ///< protects operations_
  std::condition_variable_any changed_;
  std::deque<Operation> operations_;
  std::jthread thread_;  ///< declared last: it must end before the members that it uses are
                         ///< destroyed
};

}  // namespace traffic::comm
