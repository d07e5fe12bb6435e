#include "policy/pooling.h"

#include <algorithm>

#include "traffic/scene/frame.h"

namespace traffic::train {

float* GroupMeans::write(std::int64_t first_group, std::int64_t groups, float* to) const {
  constexpr float kRowsUnit = 20.0F;
  const auto first = static_cast<std::size_t>(first_group);
  const std::size_t last = first + static_cast<std::size_t>(groups);
  for (std::size_t g = first; g < last; ++g) {
    const auto rows = static_cast<float>(std::max(rows_[g], 1));
    for (std::size_t c = 0; c < columns_; ++c) *to++ = sums_[g * columns_ + c] / rows;
  }
  for (std::size_t g = first; g < last; ++g) *to++ = static_cast<float>(rows_[g]) / kRowsUnit;
  return to;
}

VehiclePlace place_of(const scene::FrameView& frame, std::size_t node) {
  static const auto kOnMinor = static_cast<std::size_t>(scene::node_feature_index("on_minor"));
  static const auto kInZone = static_cast<std::size_t>(scene::node_feature_index("in_zone"));
  static const auto kDownstream = static_cast<std::size_t>(scene::node_feature_index("downstream"));
  const float* row = frame.node_features.data() + node * scene::node_features().size();
  if (row[kOnMinor] > 0.5F) return kMinorApproach;
  return row[kInZone] > 0.5F || row[kDownstream] > 0.5F ? kElsewhere : kOtherApproach;
}

const std::vector<std::size_t>& road_columns() {
  static const std::vector<std::size_t> columns = [] {
    std::vector<std::size_t> all;
    for (const char* name : {"speed_ratio", "commanded", "others_held"}) {
      all.push_back(static_cast<std::size_t>(scene::node_feature_index(name)));
    }
    // The features from here on describe the road around a vehicle.
    for (auto i = static_cast<std::size_t>(scene::node_feature_index("own_vehicles"));
         i < scene::node_features().size(); ++i) {
      all.push_back(i);
    }
    return all;
  }();
  return columns;
}

Candidates find_candidates_of(std::span<const rollout::Period* const> periods,
                              const std::vector<std::int64_t>& node_ptr, std::int64_t conflicts) {
  Candidates out;
  for (std::size_t b = 0; b < periods.size(); ++b) {
    for (const scene::Candidate& candidate : periods[b]->of<rollout::VehicleSection>().candidates) {
      out.row.push_back(node_ptr[b] + candidate.node);
      const std::int64_t conflict = conflicts > 1 ? candidate.conflict : 0;
      const bool minor = place_of(periods[b]->of<rollout::VehicleSection>().frames.back(),
                                  static_cast<std::size_t>(candidate.node)) == kMinorApproach;
      out.group.push_back((static_cast<std::int64_t>(b) * conflicts + conflict) * 2 +
                          (minor ? 1 : 0));
    }
    out.ptr.push_back(static_cast<std::int64_t>(out.row.size()));
  }
  return out;
}

}  // namespace traffic::train
