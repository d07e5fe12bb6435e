/// Description of the operation that a rank is about to perform. The ranks compare headers before
/// any data are changed; if they differ, the ranks took different paths through the program.
#pragma once

#include <cstdint>
#include <string>

#include "traffic/comm/communicator.h"

namespace traffic::comm {

enum class OpCode : std::uint8_t {
  kAllReduce,
  kBroadcast,
  kAllGather,
  kBarrier,
  kSharedZeros,
};

/// Plain data that is copied through shared memory and MPI messages.
struct OpHeader {
  std::uint64_t sequence = 0;
  std::uint64_t bytes = 0;
  std::uint64_t arena = 0;   ///< shared memory that contains the tensor; 0: none, the tensor is
                             ///< copied
  std::uint64_t offset = 0;  ///< of the tensor in the arena, in bytes
  double scale = 1.0;        ///< this rank's own factor, not compared
  std::int32_t root = -1;
  OpCode op = OpCode::kBarrier;
  ReduceOp reduce = ReduceOp::kSum;
  at::ScalarType dtype = at::kByte;
};

bool same_call(const OpHeader& a, const OpHeader& b);

/// "all_reduce #12 (sum, Float, 4096 bytes)"
std::string describe(const OpHeader& header);

/// "rank 1 is in broadcast #12 (...), rank 0 in all_reduce #12 (...): ..."
std::string describe_mismatch(int rank, const OpHeader& header, int other_rank,
                              const OpHeader& other);

}  // namespace traffic::comm
