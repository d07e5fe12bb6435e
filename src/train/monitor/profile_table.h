/// Makes a table from the operations that step_profiler.h has recorded: how often each operation
/// ran, and how long it took.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traffic/report/table.h"

namespace traffic::train {

/// One recorded operation.
struct TraceSpan {
  std::string name;
  std::string where;      ///< the device: "CPU", "GPU 0"
  std::uint64_t row = 0;  ///< thread or stream; within a row, spans are nested or disjoint
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// One row for each operation and device: number of calls, total time, own time (outside of nested
/// spans), and the percentage of the own time of all operations on this device. Times are in
/// milliseconds. The rows are sorted by own time in descending order.
report::Table profile_table(std::span<const TraceSpan> spans);

}  // namespace traffic::train
