/// Reading what a simulation wrote, which may be broken: nothing leads outside the bytes, and
/// numbers are such as traffic has.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "period_records.h"
#include "traffic/core/error.h"
#include "traffic/scene/score.h"

namespace traffic::rollout {

/// Takes arrays off the front of a buffer, checked.
class Cursor {
 public:
  explicit Cursor(std::span<const std::byte> bytes) : bytes_(bytes) {}

  template <typename T>
  std::span<const T> take(std::uint64_t count, std::string_view what) {
    if (count > bytes_.size() / sizeof(T) || padded(count * sizeof(T)) > bytes_.size()) {
      throw WorkerError("observation is cut off: {} has {} entries, {} bytes are left", what, count,
                        bytes_.size());
    }
    const auto* first = reinterpret_cast<const T*>(bytes_.data());
    bytes_ = bytes_.subspan(padded(count * sizeof(T)));
    return {first, count};
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  std::span<const std::byte> bytes_;
};

/// No quantity of traffic is as large, in any unit that we use: metres of a country's roads,
/// seconds of a decade, vehicles of a city times the seconds of a day.
inline constexpr double kLargest = 1e10;

/// NaN and infinity are not within either.
template <typename T>
void require_plausible(std::span<const T> values, std::string_view what) {
  bool spoiled = false;  // no early exit: the loop is vectorised
  for (const T value : values) spoiled |= !(std::abs(value) <= static_cast<T>(kLargest));
  if (spoiled)
    throw WorkerError("observation holds NaN, infinity or more than {:g} in {}", kLargest, what);
}

/// Edges by destination: [nodes + 1] rising from 0 to their number, [edges] nodes.
inline void check_edges(std::span<const std::int32_t> edge_ptr,
                        std::span<const std::int32_t> edge_src) {
  const auto edges = static_cast<std::int32_t>(edge_src.size());
  const auto nodes = static_cast<std::int32_t>(edge_ptr.size()) - 1;
  if (edge_ptr.front() != 0 || edge_ptr.back() != edges ||
      !std::is_sorted(edge_ptr.begin(), edge_ptr.end())) {
    throw WorkerError("observation's edge_ptr does not lead from 0 to {} edges", edges);
  }
  for (const std::int32_t source : edge_src) {
    if (source < 0 || source >= nodes) {
      throw WorkerError("observation's edge comes from node {} of {}", source, nodes);
    }
  }
}

inline void check_score(const scene::EpisodeScore& score) {
  const std::array<double, 8> numbers{
      score.seconds,       score.completion_sum, score.speed_sum,      score.speed_square_sum,
      score.abs_accel_sum, score.time_loss_s,    score.depart_delay_s, score.standing_s};
  require_plausible(std::span<const double>(numbers), "the score");
}

}  // namespace traffic::rollout
