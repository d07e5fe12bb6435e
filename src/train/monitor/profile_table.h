/// Sums over the operations of a recording.
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
  std::string where;      ///< "CPU", "GPU 0"
  std::uint64_t row = 0;  ///< thread or stream; within a row, spans are nested or disjoint
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// One row per name and place: number of calls, total milliseconds, milliseconds outside of nested
/// spans ("own"), and the share in percent of all own time at that place. Sorted by own time in
/// descending order.
report::Table profile_table(std::span<const TraceSpan> spans);

}  // namespace traffic::train
