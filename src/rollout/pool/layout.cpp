// Computes where each part of a pool's shared memory lies, and checks that all processes that map
// it come from one build.
#include "layout.h"

#include <fmt/format.h>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic::rollout {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::uint32_t kVersion = 5;

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t ranks_offset() { return round_up(sizeof(PoolHead), kLine); }

std::size_t workers_offset(const Geometry& geometry) {
  return ranks_offset() + geometry.num_ranks * sizeof(RankBlock);
}

std::size_t settings_offset(const Geometry& geometry) {
  return workers_offset(geometry) + geometry.num_workers() * sizeof(WorkerBlock);
}

std::size_t command_offset() { return round_up(sizeof(SlotHead), kLine); }

std::size_t reply_offset(const Geometry& geometry) {
  return command_offset() + round_up(geometry.command_bytes, kLine);
}

template <typename T>
T& at(std::span<std::byte> bytes, std::size_t offset) {
  TRAFFIC_CHECK(offset + sizeof(T) <= bytes.size(),
                "a value at offset {} does not fit into {} bytes", offset, bytes.size());
  return *reinterpret_cast<T*>(bytes.data() + offset);
}

}  // namespace

std::size_t Geometry::head_bytes() const {
  return round_up(settings_offset(*this) + settings_bytes, kPage);
}

std::size_t Geometry::bells_bytes() const { return round_up(num_ranks * sizeof(Bell), kPage); }

std::size_t Geometry::slot_bytes() const {
  return round_up(reply_offset(*this) + reply_bytes, kPage);
}

std::size_t Geometry::slot_offset(std::uint32_t env) const {
  return bells_offset() + bells_bytes() + env * slot_bytes();
}

std::uint64_t layout_hash() {
  return xxh3_64(fmt::format("traffic rollout {} {} {} {} {} {}", kVersion, sizeof(PoolHead),
                             sizeof(SlotHead), sizeof(RankBlock), sizeof(WorkerBlock),
                             sizeof(Bell)));
}

PoolHead& head_of(std::span<std::byte> head) { return at<PoolHead>(head, 0); }

void check_layout(std::uint64_t found) {
  if (found == layout_hash()) return;
  throw WorkerError(
      "rollout_worker, sumo_env and the program that started them come from different builds "
      "(layout {} found, {} expected): build all of them again",
      hex64(found), hex64(layout_hash()));
}

void check_head(std::span<const std::byte> head) {
  if (head.size() < sizeof(PoolHead)) {
    throw WorkerError("the shared memory of the simulations is too short: {} bytes", head.size());
  }
  check_layout(reinterpret_cast<const PoolHead*>(head.data())->layout);
}

RankBlock& rank_block(std::span<std::byte> head, std::uint32_t rank) {
  return at<RankBlock>(head, ranks_offset() + rank * sizeof(RankBlock));
}

WorkerBlock& worker_block(std::span<std::byte> head, std::uint32_t worker) {
  return at<WorkerBlock>(head,
                         workers_offset(head_of(head).geometry) + worker * sizeof(WorkerBlock));
}

std::uint32_t number_of_env(std::span<std::byte> head, std::uint32_t env) {
  const Geometry& geometry = head_of(head).geometry;
  return rank_block(head, geometry.rank_of_env(env)).rank +
         env / geometry.num_ranks * geometry.world_size;
}

std::span<char> settings_of(std::span<std::byte> head) {
  const Geometry& geometry = head_of(head).geometry;
  return {&at<char>(head, settings_offset(geometry)), geometry.settings_bytes};
}

Bell& bell_of(std::span<std::byte> bells, std::uint32_t rank) {
  return at<Bell>(bells, rank * sizeof(Bell));
}

SlotView slot_view(std::span<std::byte> slot, const Geometry& geometry) {
  TRAFFIC_CHECK(slot.size() == geometry.slot_bytes(), "expected a slot of {} bytes, found {}",
                geometry.slot_bytes(), slot.size());
  return {.head = &at<SlotHead>(slot, 0),
          .command = slot.subspan(command_offset(), geometry.command_bytes),
          .reply = slot.subspan(reply_offset(geometry), geometry.reply_bytes)};
}

}  // namespace traffic::rollout
