/// Checked NCCL calls. nccl.h stays in src/comm.
#pragma once

#include <nccl.h>

namespace traffic::comm {

/// @throws CommError with NCCL's own text; ncclInProgress is not an error
void check_nccl(ncclResult_t result, const char* call);

#define TRAFFIC_NCCL(call) ::traffic::comm::check_nccl((call), #call)

}  // namespace traffic::comm
