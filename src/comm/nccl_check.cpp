// Turns error codes of NCCL calls into exceptions (nccl_check.h).
#include "nccl_check.h"

#include "traffic/core/error.h"

namespace traffic::comm {

void check_nccl(ncclResult_t result, const char* call) {
  if (result == ncclSuccess || result == ncclInProgress) return;
  throw CommError("{} failed: {} ({})", call, ncclGetErrorString(result),
                  ncclGetLastError(nullptr));
}

}  // namespace traffic::comm
