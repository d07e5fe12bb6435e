#include "order_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "bytes.h"
#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

constexpr std::size_t kMaxLights = std::size_t{1} << 15;  // more than any city has

struct EpisodeRecord {
  std::uint64_t seed;
  double demand_scale;
  std::uint64_t saved_seed;
  double piece_s;
  std::uint64_t store_key;
  std::uint32_t scenario;
  std::uint32_t piece;
  std::uint8_t observed;
  std::uint8_t saves;
  std::uint8_t advises;
  std::uint8_t light_graph;
  std::array<char, 204> controller;
};
static_assert(sizeof(EpisodeRecord) == kEpisodeBytes);

/// The commands to vehicles follow, then those to lights.
struct OrdersHead {
  std::uint64_t mark;
  std::uint64_t num_vehicles;
  std::uint64_t num_lights;
};
constexpr std::uint64_t kOrdersMark = 0x5452'4f52'4445'5253;

}  // namespace

std::array<std::byte, kEpisodeBytes> write_episode(const EpisodeSpec& spec) {
  EpisodeRecord record{.seed = spec.traffic.seed,
                       .demand_scale = spec.traffic.demand_scale,
                       .saved_seed = spec.traffic.saved_seed,
                       .piece_s = spec.store.piece_s,
                       .store_key = spec.store.key,
                       .scenario = static_cast<std::uint32_t>(spec.traffic.scenario),
                       .piece = static_cast<std::uint32_t>(spec.traffic.piece),
                       .observed = spec.observed,
                       .saves = spec.store.saves,
                       .advises = spec.advises,
                       .light_graph = spec.light_graph,
                       .controller = {}};
  TRAFFIC_CHECK(spec.controller.size() < record.controller.size(),
                "the description of controller '{}' is longer than {} characters", spec.controller,
                record.controller.size() - 1);
  spec.controller.copy(record.controller.data(), spec.controller.size());
  return std::bit_cast<std::array<std::byte, kEpisodeBytes>>(record);
}

EpisodeSpec read_episode(std::span<const std::byte> bytes) {
  EpisodeRecord record;
  if (bytes.size() != sizeof(record)) {
    throw WorkerError("the description of an episode has {} bytes, expected {}", bytes.size(),
                      sizeof(record));
  }
  std::memcpy(&record, bytes.data(), sizeof(record));
  record.controller.back() = '\0';
  return {
      .traffic = {.seed = record.seed,
                  .scenario = record.scenario,
                  .demand_scale = record.demand_scale,
                  .piece = record.piece,
                  .saved_seed = record.saved_seed},
      .controller = record.controller.data(),
      .advises = record.advises != 0,
      .observed = record.observed != 0,
      .light_graph = record.light_graph != 0,
      .store = {.piece_s = record.piece_s, .key = record.store_key, .saves = record.saves != 0}};
}

void write_orders(const Orders& orders, std::vector<std::byte>& bytes) {
  bytes.resize(padded(sizeof(OrdersHead)) + padded(orders.vehicles.size_bytes()) +
               padded(orders.lights.size_bytes()));
  ByteWriter writer(bytes);
  writer.put_one(OrdersHead{.mark = kOrdersMark,
                            .num_vehicles = orders.vehicles.size(),
                            .num_lights = orders.lights.size()});
  writer.put(orders.vehicles);
  writer.put(orders.lights);
}

Orders read_orders(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto head = reader.take_one<OrdersHead>("the head of the orders");
  if (head.mark != kOrdersMark)
    throw WorkerError("a message of {} bytes does not begin as orders do", bytes.size());
  Orders orders;
  orders.vehicles = reader.take<scene::Command>(head.num_vehicles, "commands to vehicles");
  orders.lights = reader.take<scene::SignalCommand>(head.num_lights, "commands to lights");
  reader.expect_end();
  return orders;
}

std::size_t order_bytes(std::int64_t max_vehicles) {
  const std::size_t vehicles = static_cast<std::size_t>(max_vehicles) * sizeof(scene::Command);
  const std::size_t lights = kMaxLights * sizeof(scene::SignalCommand);
  return std::max(kEpisodeBytes, padded(sizeof(OrdersHead)) + padded(vehicles) + padded(lights));
}

}  // namespace traffic::rollout
