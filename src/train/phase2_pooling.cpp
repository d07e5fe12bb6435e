#include "phase2_pooling.h"

#include "traffic/scene/frame.h"

namespace traffic::train {
namespace {

VehiclePlace place_of(const rollout::FrameView& frame, std::size_t node) {
  static const auto kOnMinor = static_cast<std::size_t>(scene::node_feature_index("on_minor"));
  static const auto kInZone = static_cast<std::size_t>(scene::node_feature_index("in_zone"));
  static const auto kDownstream = static_cast<std::size_t>(scene::node_feature_index("downstream"));
  const float* row = frame.node_features.data() + node * scene::node_features().size();
  if (row[kOnMinor] > 0.5F) return kMinorApproach;
  return row[kInZone] > 0.5F || row[kDownstream] > 0.5F ? kElsewhere : kOtherApproach;
}

}  // namespace

torch::Tensor segment_means(const torch::Tensor& rows, const std::vector<std::int64_t>& ptr) {
  std::vector<torch::Tensor> means;
  for (std::size_t b = 0; b + 1 < ptr.size(); ++b) {
    const std::int64_t n = ptr[b + 1] - ptr[b];
    means.push_back(n > 0 ? rows.narrow(0, ptr[b], n).mean(0) : torch::zeros({rows.size(1)}));
  }
  return torch::stack(means);
}

Pooling::Pooling(const std::vector<std::int64_t>& group, std::int64_t groups) {
  const auto n = static_cast<std::int64_t>(group.size());
  weights = torch::zeros({groups, n});
  if (n > 0) weights.index_put_({torch::tensor(group), torch::arange(n)}, torch::ones({n}));
  counts = weights.sum(1);
  weights /= counts.clamp_min(1.0).unsqueeze(1);
}

Pooling pool_vehicles(std::span<const rollout::FrameView* const> frames) {
  std::vector<std::int64_t> group;
  for (std::size_t b = 0; b < frames.size(); ++b) {
    for (std::size_t i = 0; i < frames[b]->vehicle_id.size(); ++i) {
      group.push_back(static_cast<std::int64_t>(b) * kNumPlaces + place_of(*frames[b], i));
    }
  }
  return {group, static_cast<std::int64_t>(frames.size()) * kNumPlaces};
}

const std::vector<std::int64_t>& road_columns() {
  static const std::vector<std::int64_t> columns = [] {
    std::vector<std::int64_t> all;
    for (const char* name : {"speed_ratio", "commanded", "others_held"}) {
      all.push_back(scene::node_feature_index(name));
    }
    // From here on, features are those of a vehicle's road.
    for (std::int64_t i = scene::node_feature_index("own_vehicles");
         i < static_cast<std::int64_t>(scene::node_features().size()); ++i) {
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
    for (const rollout::Candidate& candidate : periods[b]->candidates) {
      out.row.push_back(node_ptr[b] + candidate.node);
      const std::int64_t conflict = conflicts > 1 ? candidate.conflict : 0;
      const bool minor = place_of(periods[b]->frames.back(),
                                  static_cast<std::size_t>(candidate.node)) == kMinorApproach;
      out.group.push_back((static_cast<std::int64_t>(b) * conflicts + conflict) * 2 +
                          (minor ? 1 : 0));
    }
    out.ptr.push_back(static_cast<std::int64_t>(out.row.size()));
  }
  return out;
}

}  // namespace traffic::train
