// Creates, opens and maps the shared memory of a pool (pool_memory.h).
#include "pool_memory.h"

#include <cstring>
#include <system_error>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"

namespace traffic::rollout {
namespace {

constexpr const char* kMemoryName = "traffic_rollout";

}  // namespace

os::Descriptor create_pool_file(std::size_t size_bytes) {
  try {
    return os::create_memory_file(kMemoryName, size_bytes, os::Allocation::kSparse);
  } catch (const std::system_error& error) {
    throw ResourceError(
        "cannot create {} of memory to share with the simulations: {}; lower "
        "rollout.envs_per_worker or raise the limit of open files (ulimit -n)",
        human_bytes(static_cast<std::int64_t>(size_bytes)), error.what());
  }
}

os::Descriptor open_pool_memory(pid_t pid, int fd) {
  try {
    return os::open_memory_file_of(pid, fd, kMemoryName);
  } catch (const std::system_error& error) {
    throw ResourceError(
        "cannot open the memory shared with the simulations: {}; ranks and rollout workers of a "
        "node must run as one user in one container",
        error.what());
  }
}

os::Mapping map_pool_memory(const os::Descriptor& file, std::size_t offset_bytes,
                            std::size_t size_bytes, os::Access access) {
  try {
    return {file, offset_bytes, size_bytes, access};
  } catch (const std::system_error& error) {
    throw ResourceError("cannot map {} of memory shared with the simulations: {}",
                        human_bytes(static_cast<std::int64_t>(size_bytes)), error.what());
  }
}

PoolMemory PoolMemory::create(const PoolPlan& plan) {
  Geometry geometry = plan.geometry;
  geometry.num_ranks = static_cast<std::uint32_t>(plan.ranks.size());
  geometry.settings_bytes = static_cast<std::uint32_t>(plan.settings.size());
  os::Descriptor file = create_pool_file(geometry.total_bytes());
  {
    const os::Mapping mapping =
        map_pool_memory(file, 0, geometry.head_bytes(), os::Access::kReadWrite);
    PoolHead& pool = head_of(mapping.bytes());
    TRAFFIC_CHECK(plan.env_program.size() < sizeof(pool.env_program),
                  "the path of the simulation program is too long: {}", plan.env_program);
    pool.geometry = geometry;
    pool.env_timeout_s = plan.env_timeout_s;
    pool.max_restarts = plan.max_restarts;
    pool.env_program.set(plan.env_program);
    for (std::uint32_t r = 0; r < geometry.num_ranks; ++r) {
      rank_block(mapping.bytes(), r).rank = plan.ranks[r];
    }
    plan.settings.copy(settings_of(mapping.bytes()).data(), plan.settings.size());
    pool.layout = layout_hash();
  }
  return PoolMemory(std::move(file));
}

PoolMemory::PoolMemory(os::Descriptor file) : file_(std::move(file)) {
  {
    const os::Mapping first = map_pool_memory(file_, 0, sizeof(PoolHead), os::Access::kReadOnly);
    check_head(first.bytes());
    geometry_ = head_of(first.bytes()).geometry;
  }
  all_ = map_pool_memory(file_, 0, geometry_.total_bytes(), os::Access::kReadWrite);
}

Bell& PoolMemory::bell(std::uint32_t rank) const {
  return bell_of(all_.bytes().subspan(geometry_.bells_offset(), geometry_.bells_bytes()), rank);
}

SlotView PoolMemory::slot(std::uint32_t env) const {
  return slot_view(all_.bytes().subspan(geometry_.slot_offset(env), geometry_.slot_bytes()),
                   geometry_);
}

}  // namespace traffic::rollout
