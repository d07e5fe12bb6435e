#include "rollout/traffic/joint_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "rollout/traffic/period_codec.h"
#include "rollout/traffic/signal_codec.h"
#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

std::vector<std::byte> order_of(std::size_t vehicles, std::size_t lights) {
  std::vector<scene::Command> commands(vehicles);
  for (std::size_t i = 0; i < vehicles; ++i) {
    commands[i].vehicle_id = static_cast<std::uint32_t>(10 + i);
  }
  std::vector<scene::SignalCommand> greens(lights);
  for (std::size_t i = 0; i < lights; ++i) greens[i] = {static_cast<std::int32_t>(i), 2};
  std::vector<std::byte> order(3);  // of an earlier one
  write_joint_order(commands, greens, order);
  return order;
}

TEST(JointCodec, ReturnsBothPartsWhateverTheirLengths) {
  for (const std::size_t vehicles : {0, 1, 3}) {
    for (const std::size_t lights : {0, 1, 2}) {
      const auto order = order_of(vehicles, lights);
      const JointParts parts = joint_parts(order);
      const auto commands = read_commands(parts.vehicles);
      const auto greens = read_signal_commands(parts.lights);
      ASSERT_EQ(commands.size(), vehicles);
      ASSERT_EQ(greens.size(), lights);
      for (std::size_t i = 0; i < vehicles; ++i) EXPECT_EQ(commands[i].vehicle_id, 10 + i);
      for (std::size_t i = 0; i < lights; ++i) {
        EXPECT_EQ(greens[i].light, static_cast<std::int32_t>(i));
      }
    }
  }
}

TEST(JointCodec, RefusesWhatHasNoTwoParts) {
  const auto order = order_of(2, 1);
  EXPECT_THROW(joint_parts({}), WorkerError);
  EXPECT_THROW(joint_parts(std::span(order).first(kJointHeadBytes - 1)), WorkerError);
  EXPECT_THROW(joint_parts(std::span(order).first(kJointHeadBytes + 8)), WorkerError);
  EXPECT_THROW(joint_parts(std::span(order).subspan(8)), WorkerError);
  auto spoiled = order;
  for (const std::uint64_t bytes : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    std::memcpy(spoiled.data() + sizeof(bytes), &bytes, sizeof(bytes));
    EXPECT_THROW(joint_parts(spoiled), WorkerError) << bytes;
  }
}

}  // namespace
}  // namespace traffic::rollout
