/// Turns error codes of NCCL calls into exceptions. Files of this module include this header
/// instead of nccl.h; public headers do not include it.
#pragma once

#include <nccl.h>

namespace traffic::comm {

/// @throws CommError with NCCL's own text; ncclInProgress is not an error
void check_nccl(ncclResult_t result, const char* call);

#define TRAFFIC_NCCL(call) ::traffic::comm::check_nccl((call), #call)

}  // namespace traffic::comm
