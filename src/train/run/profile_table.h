/// What a recording of operations adds up to.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "traffic/report/table.h"

namespace traffic::train {

/// An operation that was recorded.
struct TraceSpan {
  std::string name;
  std::string where;      ///< "CPU", "GPU 0"
  std::uint64_t row = 0;  ///< thread or stream: within one, spans contain each other or are apart
  std::uint64_t start_ns = 0;
  std::uint64_t end_ns = 0;
};

/// One row a name and place: calls, milliseconds within it, milliseconds of it outside all other
/// spans that it contains ("own"), and the own time's share of all own time at that place in
/// percent; the most own time first.
report::Table profile_table(std::span<const TraceSpan> spans);

}  // namespace traffic::train
