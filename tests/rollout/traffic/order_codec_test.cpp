#include "rollout/traffic/order_codec.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/scene/action.h"
#include "traffic/scene/signal_book.h"

namespace traffic::rollout {
namespace {

struct Written {
  std::vector<scene::Command> commands;
  std::vector<scene::SignalCommand> greens;
  std::vector<std::byte> bytes = std::vector<std::byte>(3);  // content of an earlier order

  Written(std::size_t vehicles, std::size_t lights) : commands(vehicles), greens(lights) {
    for (std::size_t i = 0; i < vehicles; ++i) {
      commands[i].vehicle_id = static_cast<std::uint32_t>(10 + i);
    }
    for (std::size_t i = 0; i < lights; ++i) greens[i] = {static_cast<std::int32_t>(i), 2};
    Orders orders;
    orders.add(kVehicles, std::span<const scene::Command>(commands));
    orders.add(kLights, std::span<const scene::SignalCommand>(greens));
    write_orders(orders, bytes);
  }
};

TEST(OrderCodec, ReturnsTheOrdersOfEveryAgent) {
  config::Config config;
  config.env.agents = {"vehicles", "lights"};
  for (const std::size_t vehicles : {0, 1, 3}) {
    for (const std::size_t lights : {0, 1, 2}) {
      const Written written(vehicles, lights);
      const std::vector<OrderSection> read = read_orders(written.bytes);
      ASSERT_EQ(read.size(), 2U);
      EXPECT_EQ(read[0].agent, "vehicles");
      EXPECT_EQ(read[1].agent, "lights");
      const auto commands = commands_in<scene::Command>(read[0].commands);
      const auto greens = commands_in<scene::SignalCommand>(read[1].commands);
      ASSERT_EQ(commands.size(), vehicles);
      ASSERT_EQ(greens.size(), lights);
      for (std::size_t i = 0; i < vehicles; ++i) EXPECT_EQ(commands[i].vehicle_id, 10 + i);
      for (std::size_t i = 0; i < lights; ++i) {
        EXPECT_EQ(greens[i].light, static_cast<std::int32_t>(i));
      }
      config.rollout.max_vehicles = static_cast<std::int64_t>(vehicles);
      EXPECT_LE(written.bytes.size(), order_bytes(config));
    }
  }
  config.env.agents = {};
  EXPECT_GE(order_bytes(config), kEpisodeBytes);
}

TEST(OrderCodec, RefusesPartsOfCommands) {
  const Written written(2, 0);
  const auto section = read_orders(written.bytes)[0].commands;
  EXPECT_THROW(commands_in<scene::Command>(section.first(section.size() - 1)), WorkerError);
}

TEST(OrderCodec, RefusesBytesThatAreNotOrders) {
  const Written written(2, 1);
  const std::span<const std::byte> bytes = written.bytes;
  EXPECT_THROW(read_orders({}), WorkerError);
  EXPECT_THROW(read_orders(bytes.first(8)), WorkerError);
  EXPECT_THROW(read_orders(bytes.first(bytes.size() - 8)), WorkerError);
  EXPECT_THROW(read_orders(bytes.subspan(8)), WorkerError);
  // The number of sections, then the size of the first one.
  for (const std::size_t count : {1, 5}) {
    for (const std::uint64_t number : {std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
      auto spoiled = written.bytes;
      std::memcpy(spoiled.data() + count * sizeof(number), &number, sizeof(number));
      EXPECT_THROW(read_orders(spoiled), WorkerError) << number;
    }
  }
}

TEST(OrderCodec, ReturnsTheEpisodeThatWasWritten) {
  const EpisodeSpec spec{
      .traffic = {.seed = 0xfedcba9876543210,
                  .scenario = 2,
                  .demand_scale = 1.25,
                  .piece = 70'000,
                  .saved_seed = 81},
      .controller = "meter",
      .advises = true,
      .observed = false,
      .idle_lights = true,
      .store = {.piece_s = 600, .key = 0x1234567812345678, .saves = true},
      .light_cost = {
          .delay = 0.5, .co2_s_per_g = 2, .electricity_s_per_wh = 3, .distance_s_per_m = -0.25}};
  const auto bytes = write_episode(spec);
  const EpisodeSpec read = read_episode(bytes);
  EXPECT_EQ(read.traffic.seed, spec.traffic.seed);
  EXPECT_EQ(read.traffic.scenario, spec.traffic.scenario);
  EXPECT_EQ(read.traffic.piece, spec.traffic.piece);
  EXPECT_EQ(read.traffic.saved_seed, spec.traffic.saved_seed);
  EXPECT_EQ(read.traffic.demand_scale, spec.traffic.demand_scale);
  EXPECT_EQ(read.controller, spec.controller);
  EXPECT_EQ(read.advises, spec.advises);
  EXPECT_EQ(read.observed, spec.observed);
  EXPECT_EQ(read.idle_lights, spec.idle_lights);
  EXPECT_EQ(read.store.piece_s, spec.store.piece_s);
  EXPECT_EQ(read.store.key, spec.store.key);
  EXPECT_EQ(read.store.saves, spec.store.saves);
  EXPECT_EQ(read.light_cost.delay, spec.light_cost.delay);
  EXPECT_EQ(read.light_cost.co2_s_per_g, spec.light_cost.co2_s_per_g);
  EXPECT_EQ(read.light_cost.electricity_s_per_wh, spec.light_cost.electricity_s_per_wh);
  EXPECT_EQ(read.light_cost.distance_s_per_m, spec.light_cost.distance_s_per_m);
  EXPECT_THROW(read_episode(std::span(bytes).first(bytes.size() - 1)), WorkerError);
}

}  // namespace
}  // namespace traffic::rollout
