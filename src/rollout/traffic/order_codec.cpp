// Encodes and decodes the orders of a rank to a simulation (order_codec.h).
#include "order_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "section_head.h"
#include "traffic/core/error.h"
#include "traffic/rollout/traffic/agent_format.h"

namespace traffic::rollout {
namespace {

/// The description of an episode as bytes; see EpisodeSpec for the meaning of the members.
struct EpisodeRecord {
  std::uint64_t seed;
  double demand_scale;
  std::uint64_t saved_seed;
  double piece_s;
  std::uint64_t store_key;
  double light_delay;
  double light_co2_s_per_g;
  double light_electricity_s_per_wh;
  double light_distance_s_per_m;
  std::uint32_t scenario;
  std::uint32_t piece;
  std::uint8_t observed;
  std::uint8_t saves;
  std::uint8_t advises;
  std::uint8_t idle_lights;
  std::array<char, 172> controller;
};
static_assert(sizeof(EpisodeRecord) == kEpisodeBytes);

/// Head of an order with commands. A section for each agent follows, with the agent's commands.
struct OrdersHead {
  std::uint64_t mark;
  std::uint64_t num_sections;
};
constexpr std::uint64_t kOrdersMark = 0x5452'4f52'4445'5253;

}  // namespace

std::array<std::byte, kEpisodeBytes> write_episode(const EpisodeSpec& spec) {
  EpisodeRecord record{.seed = spec.traffic.seed,
                       .demand_scale = spec.traffic.demand_scale,
                       .saved_seed = spec.traffic.saved_seed,
                       .piece_s = spec.store.piece_s,
                       .store_key = spec.store.key,
                       .light_delay = spec.light_cost.delay,
                       .light_co2_s_per_g = spec.light_cost.co2_s_per_g,
                       .light_electricity_s_per_wh = spec.light_cost.electricity_s_per_wh,
                       .light_distance_s_per_m = spec.light_cost.distance_s_per_m,
                       .scenario = static_cast<std::uint32_t>(spec.traffic.scenario),
                       .piece = static_cast<std::uint32_t>(spec.traffic.piece),
                       .observed = spec.observed,
                       .saves = spec.store.saves,
                       .advises = spec.advises,
                       .idle_lights = spec.idle_lights,
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
  return {.traffic = {.seed = record.seed,
                      .scenario = record.scenario,
                      .demand_scale = record.demand_scale,
                      .piece = record.piece,
                      .saved_seed = record.saved_seed},
          .controller = record.controller.data(),
          .advises = record.advises != 0,
          .observed = record.observed != 0,
          .idle_lights = record.idle_lights != 0,
          .store = {.piece_s = record.piece_s, .key = record.store_key, .saves = record.saves != 0},
          .light_cost = {.delay = record.light_delay,
                         .co2_s_per_g = record.light_co2_s_per_g,
                         .electricity_s_per_wh = record.light_electricity_s_per_wh,
                         .distance_s_per_m = record.light_distance_s_per_m}};
}

void write_orders(const Orders& orders, std::vector<std::byte>& bytes) {
  std::size_t size = padded(sizeof(OrdersHead));
  for (const Orders::Section& section : orders.sections()) {
    size += padded(sizeof(SectionHead)) + padded(section.commands.size());
  }
  bytes.resize(size);
  ByteWriter writer(bytes);
  writer.put_one(OrdersHead{.mark = kOrdersMark, .num_sections = orders.sections().size()});
  for (const Orders::Section& section : orders.sections()) {
    writer.put_one(SectionHead(section.agent, section.commands.size()));
    writer.put(section.commands);
  }
}

std::vector<OrderSection> read_orders(std::span<const std::byte> bytes) {
  ByteReader reader(bytes);
  const auto head = reader.take_one<OrdersHead>("the head of the orders");
  if (head.mark != kOrdersMark)
    throw WorkerError(
        "a message of {} bytes is not an order: its first bytes differ from the mark "
        "with which orders begin",
        bytes.size());
  std::vector<OrderSection> sections;
  for (std::uint64_t s = 0; s < head.num_sections; ++s) {
    const ReadSection section(reader);
    sections.push_back({.agent = std::string(section.head.name()), .commands = section.content});
  }
  reader.expect_end();
  return sections;
}

std::size_t order_bytes(const config::Config& config) {
  std::size_t bytes = padded(sizeof(OrdersHead));
  for (const std::string& agent : config.env.agents) {
    bytes += padded(sizeof(SectionHead)) + padded(format_of(agent).order_bytes(config));
  }
  return std::max(kEpisodeBytes, bytes);
}

}  // namespace traffic::rollout
