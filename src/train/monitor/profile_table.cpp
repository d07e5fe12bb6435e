#include "monitor/profile_table.h"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace traffic::train {
namespace {

/// Sums over all calls of one operation.
struct Sums {
  std::int64_t calls = 0;
  double total_ms = 0;
  double own_ms = 0;  ///< total_ms without the time of operations inside these calls
};

using NameAndPlace = std::pair<std::string, std::string>;

double milliseconds(const TraceSpan& span) {
  return static_cast<double>(span.end_ns - span.start_ns) * 1e-6;
}

/// Sorts spans (operations with begin and end) by their row. Within a row, outer spans come before
/// the spans that they contain.
std::vector<const TraceSpan*> in_order(std::span<const TraceSpan> spans) {
  std::vector<const TraceSpan*> order;
  for (const TraceSpan& span : spans) order.push_back(&span);
  std::stable_sort(order.begin(), order.end(), [](const TraceSpan* a, const TraceSpan* b) {
    return std::tie(a->where, a->row, a->start_ns, b->end_ns) <
           std::tie(b->where, b->row, b->start_ns, a->end_ns);
  });
  return order;
}

std::map<NameAndPlace, Sums> add_up(std::span<const TraceSpan> spans) {
  std::map<NameAndPlace, Sums> sums;
  std::vector<std::pair<const TraceSpan*, Sums*>> open;
  for (const TraceSpan* span : in_order(spans)) {
    const auto contains = [&](const TraceSpan* outer) {
      return outer->where == span->where && outer->row == span->row &&
             span->start_ns < outer->end_ns;
    };
    while (!open.empty() && !contains(open.back().first)) open.pop_back();
    Sums& mine = sums[{span->name, span->where}];
    mine.calls += 1;
    mine.total_ms += milliseconds(*span);
    mine.own_ms += milliseconds(*span);
    if (!open.empty()) open.back().second->own_ms -= milliseconds(*span);
    open.emplace_back(span, &mine);
  }
  return sums;
}

}  // namespace

report::Table profile_table(std::span<const TraceSpan> spans) {
  const std::map<NameAndPlace, Sums> sums = add_up(spans);
  std::map<std::string, double> of_place;
  std::vector<const std::pair<const NameAndPlace, Sums>*> order;
  for (const auto& entry : sums) {
    of_place[entry.first.second] += entry.second.own_ms;
    order.push_back(&entry);
  }
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second.own_ms > b->second.own_ms;
  });
  report::Table table({"operation", "where", "calls", "total_ms", "own_ms", "own_percent"});
  for (const auto* entry : order) {
    const auto& [name, where] = entry->first;
    const Sums& sum = entry->second;
    const double all_ms = of_place[where];
    table.add_row({name, where, sum.calls, sum.total_ms, sum.own_ms,
                   all_ms > 0 ? 100.0 * sum.own_ms / all_ms : 0.0});
  }
  return table;
}

}  // namespace traffic::train
