// Compares the operations that ranks are about to perform, and describes them in messages.
#include "op_header.h"

#include <fmt/format.h>

#include <array>

namespace traffic::comm {
namespace {

const char* name(OpCode op) {
  static constexpr std::array<const char*, 5> kNames = {"all_reduce", "broadcast", "all_gather",
                                                        "barrier", "shared_zeros"};
  const auto i = static_cast<std::size_t>(op);
  return i < kNames.size() ? kNames[i] : "unknown operation";
}

const char* name(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum:
      return "sum";
    case ReduceOp::kMax:
      return "max";
    case ReduceOp::kMin:
      return "min";
  }
  return "unknown";
}

}  // namespace

bool same_call(const OpHeader& a, const OpHeader& b) {
  return a.sequence == b.sequence && a.bytes == b.bytes && a.arena == b.arena &&
         a.offset == b.offset && a.root == b.root && a.op == b.op && a.reduce == b.reduce &&
         a.dtype == b.dtype;
}

std::string describe(const OpHeader& header) {
  std::string text = fmt::format("{} #{}", name(header.op), header.sequence);
  if (header.op == OpCode::kBarrier) return text;
  text += " (";
  if (header.op == OpCode::kAllReduce) text += fmt::format("{}, ", name(header.reduce));
  if (header.root >= 0) text += fmt::format("root {}, ", header.root);
  text += fmt::format("{}, {} bytes", at::toString(header.dtype), header.bytes);
  if (header.arena != 0) text += fmt::format(", arena {} at byte {}", header.arena, header.offset);
  return text + ")";
}

std::string describe_mismatch(int rank, const OpHeader& header, int other_rank,
                              const OpHeader& other) {
  return fmt::format(
      "rank {} is in {}, rank {} in {}: the ranks took different paths through the program or hold "
      "tensors of different shapes",
      other_rank, describe(other), rank, describe(header));
}

}  // namespace traffic::comm
