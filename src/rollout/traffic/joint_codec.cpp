#include "joint_codec.h"

#include <cstdint>
#include <cstring>

#include "period_records.h"
#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

constexpr std::uint64_t kJointMark = 0x54524a4f494e54;

struct JointHead {
  std::uint64_t mark;
  std::uint64_t vehicles_bytes;
};
static_assert(sizeof(JointHead) <= kJointHeadBytes);

void append(std::span<const std::byte> bytes, std::vector<std::byte>& order) {
  order.insert(order.end(), bytes.begin(), bytes.end());
}

}  // namespace

void write_joint_head(std::size_t vehicles_bytes, std::span<std::byte> room) {
  const JointHead head{.mark = kJointMark, .vehicles_bytes = vehicles_bytes};
  TRAFFIC_CHECK(room.size() >= kJointHeadBytes, "{} bytes have no room for a head", room.size());
  std::memcpy(room.data(), &head, sizeof(head));
}

void write_joint_order(std::span<const scene::Command> commands,
                       std::span<const scene::SignalCommand> greens,
                       std::vector<std::byte>& order) {
  order.assign(kJointHeadBytes, std::byte{0});
  write_joint_head(commands.size_bytes(), order);
  append(std::as_bytes(commands), order);
  order.resize(kJointHeadBytes + padded(commands.size_bytes()));
  append(std::as_bytes(greens), order);
}

JointParts joint_parts(std::span<const std::byte> bytes) {
  JointHead head{};
  if (bytes.size() >= kJointHeadBytes) std::memcpy(&head, bytes.data(), sizeof(head));
  if (head.mark != kJointMark || head.vehicles_bytes > bytes.size() - kJointHeadBytes ||
      padded(head.vehicles_bytes) > bytes.size() - kJointHeadBytes) {
    throw WorkerError("{} bytes are not those of vehicles and lights", bytes.size());
  }
  const auto behind = bytes.subspan(kJointHeadBytes);
  return {.vehicles = behind.first(head.vehicles_bytes),
          .lights = behind.subspan(padded(head.vehicles_bytes))};
}

}  // namespace traffic::rollout
