/// Orders and answers of simulations in which vehicles and lights act: those of period_codec.h and
/// of signal_codec.h one behind the other.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "traffic/scene/action.h"
#include "traffic/scene/signal_book.h"

namespace traffic::rollout {

/// Before the two parts of an order or answer.
inline constexpr std::size_t kJointHeadBytes = 64;

/// A step's order, in the place of what was there.
void write_joint_order(std::span<const scene::Command> commands,
                       std::span<const scene::SignalCommand> greens, std::vector<std::byte>& order);
/// The two parts, as views into the bytes.
struct JointParts {
  std::span<const std::byte> vehicles;
  std::span<const std::byte> lights;
};
/// Of an order or an answer.
/// @throws WorkerError if it has no such parts
JointParts joint_parts(std::span<const std::byte> bytes);
/// What an answer's two parts, which stand behind the head, are preceded by.
void write_joint_head(std::size_t vehicles_bytes, std::span<std::byte> room);

}  // namespace traffic::rollout
