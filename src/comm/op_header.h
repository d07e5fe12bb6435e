/// OpHeader describes the collective operation that a rank is about to perform. The ranks compare
/// headers before any data are changed. If the headers differ, the ranks took different paths
/// through the program, and the communicator reports it.
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
  std::uint64_t sequence = 0;  ///< number of the operation, counted from 1
  std::uint64_t bytes = 0;     ///< size of the tensor
  std::uint64_t arena = 0;     ///< number of the arena (memory shared by the ranks of a node) that
                               ///< contains the tensor; 0 if it is in none and is copied
  std::uint64_t offset = 0;    ///< position of the tensor in the arena, in bytes
  double scale = 1.0;          ///< factor of this rank's values; may differ between ranks
  std::int32_t root = -1;      ///< root of a broadcast; -1 in other operations
  OpCode op = OpCode::kBarrier;
  ReduceOp reduce = ReduceOp::kSum;
  at::ScalarType dtype = at::kByte;
};

/// Whether two ranks are in the same operation: all fields but the scale are equal.
bool same_call(const OpHeader& a, const OpHeader& b);

/// Text for messages, e.g. "all_reduce #12 (sum, Float, 4096 bytes)".
std::string describe(const OpHeader& header);

/// Text for messages, e.g. "rank 1 is in broadcast #12 (...), rank 0 in all_reduce #12 (...): ...".
std::string describe_mismatch(int rank, const OpHeader& header, int other_rank,
                              const OpHeader& other);

}  // namespace traffic::comm
