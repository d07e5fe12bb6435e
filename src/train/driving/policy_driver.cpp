#include "driving/policy_driver.h"

#include <map>
#include <utility>
#include <vector>

#include "driving/policy.h"
#include "driving/training.h"
#include "run/snapshot_parts.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace driving_policy {
namespace {

class PolicyDriver final : public driving::Driver {
 public:
  explicit PolicyDriver(const checkpoint::Snapshot& snapshot)
      : policy_(stored_config(snapshot).extension<Driving>(), 0, torch::kCPU),
        observer_(raster_of(policy_.settings())) {
    policy_.restore_statistics(snapshot);
    copy_parameters(snapshot, policy_.parameters().parameters());
  }

  std::vector<driving::Plan> plan(std::span<const driving::View> views) override;

 private:
  const driving::MapIndex& index_of(const driving::RoadMap& map);

  Policy policy_;
  driving::Observer observer_;
  std::map<const driving::RoadMap*, driving::MapIndex> maps_;
};

const driving::MapIndex& PolicyDriver::index_of(const driving::RoadMap& map) {
  const auto found = maps_.find(&map);
  if (found != maps_.end()) return found->second;
  // The caller keeps the map alive, so nothing is released with this pointer.
  const std::shared_ptr<const driving::RoadMap> shared(std::shared_ptr<void>(), &map);
  return maps_.emplace(&map, driving::MapIndex(shared)).first->second;
}

std::vector<driving::Plan> PolicyDriver::plan(std::span<const driving::View> views) {
  if (views.empty()) return {};
  const auto count = static_cast<std::int64_t>(views.size());
  DrivingBatch batch = observed_batch(observer_.spec(), count);
  const driving::ObserveOptions seen{.history = policy_.settings().history_dropout < 1.0};
  for (std::int64_t i = 0; i < count; ++i) {
    const driving::View& view = views[static_cast<std::size_t>(i)];
    observe(observer_, index_of(*view.map), view, seen, i, batch);
  }
  return plans_in(policy_.plans(batch, 1).plans);
}

}  // namespace
}  // namespace driving_policy

std::unique_ptr<driving::Driver> load_driver(const std::string& checkpoint_path) {
  const checkpoint::Snapshot snapshot = checkpoint::load(checkpoint_path);
  check_training(snapshot, driving_training().facts);
  return std::make_unique<driving_policy::PolicyDriver>(snapshot);
}

}  // namespace traffic::train
