#include "pool_memory.h"

#include <cstring>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::rollout {

PoolMemory PoolMemory::create(const PoolPlan& plan) {
  Geometry geometry = plan.geometry;
  geometry.settings_bytes = static_cast<std::uint32_t>(plan.settings.size());
  Descriptor file = create_memory_file(geometry.total_bytes());
  {
    const Mapping mapping(file, 0, geometry.head_bytes(), Access::kReadWrite);
    PoolHead& pool = head_of(mapping.bytes());
    TRAFFIC_CHECK(plan.env_program.size() < sizeof(pool.env_program), "path is too long: {}",
                  plan.env_program);
    pool.geometry = geometry;
    pool.env_timeout_s = plan.env_timeout_s;
    pool.max_restarts = plan.max_restarts;
    pool.env_program.set(plan.env_program);
    plan.settings.copy(settings_of(mapping.bytes()).data(), plan.settings.size());
    pool.layout = layout_hash();
  }
  return PoolMemory(std::move(file));
}

PoolMemory::PoolMemory(Descriptor file) : file_(std::move(file)) {
  {
    const Mapping first(file_, 0, sizeof(PoolHead), Access::kReadOnly);
    check_head(first.bytes());
    geometry_ = head_of(first.bytes()).geometry;
  }
  all_ = Mapping(file_, 0, geometry_.total_bytes(), Access::kReadWrite);
}

Bell& PoolMemory::bell(std::uint32_t rank) const {
  return bell_of(all_.bytes().subspan(geometry_.bells_offset(), geometry_.bells_bytes()), rank);
}

SlotView PoolMemory::slot(std::uint32_t env) const {
  return slot_view(all_.bytes().subspan(geometry_.slot_offset(env), geometry_.slot_bytes()),
                   geometry_);
}

}  // namespace traffic::rollout
