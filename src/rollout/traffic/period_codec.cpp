#include "period_codec.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "period_records.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/text.h"
#include "traffic/scene/frame_builder.h"

namespace traffic::rollout {
namespace {

/// For what does not grow with the vehicles: growth by step and conflict, scripted commands.
constexpr std::size_t kSlack = std::size_t{1} << 20;

struct EpisodeRecord {
  std::uint64_t seed;
  double demand_scale;
  std::uint32_t scenario;
  std::uint8_t frames;
  std::uint8_t saves;
  std::uint16_t piece;
  std::uint64_t saved_seed;
  double piece_s;
  std::uint64_t store_key;
  std::uint8_t advises;
  std::uint8_t signal_graph;
  std::array<char, 206> controller;
};
static_assert(sizeof(EpisodeRecord) == kEpisodeBytes);

}  // namespace

std::size_t period_bytes(std::int64_t max_frames, std::int64_t max_vehicles) {
  const auto vehicles = static_cast<std::size_t>(max_vehicles);
  const std::size_t edges = vehicles * static_cast<std::size_t>(scene::kMaxNeighbours);
  const std::size_t node_bytes = sizeof(std::uint32_t) + sizeof(std::int32_t) +
                                 sizeof(float) * (2 + scene::node_features().size());
  const std::size_t edge_bytes = sizeof(std::int32_t) + sizeof(float) * kEdgeFeatures;
  const std::size_t frame_bytes = sizeof(FrameHead) + vehicles * node_bytes + edges * edge_bytes;
  const std::size_t lists = vehicles * (sizeof(scene::Candidate) + sizeof(ControlledVehicle));
  return static_cast<std::size_t>(max_frames) * frame_bytes + lists + kSlack;
}

void PeriodWriter::begin(std::span<std::byte> buffer) {
  buffer_ = buffer;
  used_ = padded(sizeof(PeriodHead));
  num_frames_ = 0;
}

template <typename T>
void PeriodWriter::put(std::span<const T> values) {
  static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kUnit);
  const std::size_t bytes = padded(values.size_bytes());
  if (bytes > buffer_.size() - used_) {
    throw WorkerError(
        "the observation does not fit into {}: there are more vehicles than rollout.max_vehicles",
        human_bytes(static_cast<std::int64_t>(buffer_.size())));
  }
  if (!values.empty()) std::memcpy(buffer_.data() + used_, values.data(), values.size_bytes());
  used_ += bytes;
}

void PeriodWriter::add_frame(const scene::GraphFrame& frame) {
  const FrameHead head{.mark = kFrameMark,
                       .nodes = static_cast<std::uint32_t>(frame.num_nodes()),
                       .edges = static_cast<std::uint32_t>(frame.num_edges()),
                       .features = static_cast<std::uint32_t>(scene::node_features().size()),
                       .time_s = frame.time_s,
                       .globals = frame.global_features};
  put(std::span(&head, 1));
  put(std::span(frame.vehicle_id));
  put(std::span(frame.xy_m));
  put(std::span(frame.node_features));
  put(std::span(frame.edge_ptr));
  put(std::span(frame.edge_src));
  put(std::span(frame.edge_features));
  ++num_frames_;
}

std::size_t PeriodWriter::finish(const Period& period) {
  put(period.growth);
  put(period.conflict_growth);
  put(period.candidates);
  put(period.controlled);
  put(period.scripted);
  put(period.advice);
  const PeriodHead head{.mark = kPeriodMark,
                        .num_frames = num_frames_,
                        .num_steps = static_cast<std::uint32_t>(period.growth.size()),
                        .num_conflicts = static_cast<std::uint32_t>(period.num_conflicts),
                        .num_candidates = static_cast<std::uint32_t>(period.candidates.size()),
                        .num_controlled = static_cast<std::uint32_t>(period.controlled.size()),
                        .num_scripted = static_cast<std::uint32_t>(period.scripted.size()),
                        .num_advice = static_cast<std::uint32_t>(period.advice.size()),
                        .terminated = period.terminated,
                        .truncated = period.truncated,
                        .time_s = period.time_s,
                        .score = period.score};
  std::memcpy(buffer_.data(), &head, sizeof(head));
  return used_;
}

std::filesystem::path piece_folder(const std::string& cache, std::uint64_t key) {
  return std::filesystem::path(cache) / ("traffic-" + hex64(key));
}

std::array<std::byte, kEpisodeBytes> write_episode(const EpisodeSpec& spec) {
  EpisodeRecord record{.seed = spec.traffic.seed,
                       .demand_scale = spec.demand_scale,
                       .scenario = static_cast<std::uint32_t>(spec.traffic.scenario),
                       .frames = spec.frames,
                       .saves = spec.store.saves,
                       .piece = static_cast<std::uint16_t>(spec.traffic.piece),
                       .saved_seed = spec.traffic.saved_seed,
                       .piece_s = spec.store.piece_s,
                       .store_key = spec.store.key,
                       .advises = spec.advises,
                       .signal_graph = spec.signal_graph,
                       .controller = {}};
  TRAFFIC_CHECK(spec.controller.size() < record.controller.size(),
                "controller '{}' has too long a name", spec.controller);
  spec.controller.copy(record.controller.data(), spec.controller.size());
  return std::bit_cast<std::array<std::byte, kEpisodeBytes>>(record);
}

EpisodeSpec read_episode(std::span<const std::byte> bytes) {
  EpisodeRecord record;
  if (bytes.size() != sizeof(record)) {
    throw WorkerError("an episode's description has {} bytes, expected {}", bytes.size(),
                      sizeof(record));
  }
  std::memcpy(&record, bytes.data(), sizeof(record));
  record.controller.back() = '\0';
  return {
      .traffic = {.seed = record.seed,
                  .scenario = record.scenario,
                  .piece = record.piece,
                  .saved_seed = record.saved_seed},
      .demand_scale = record.demand_scale,
      .controller = record.controller.data(),
      .advises = record.advises != 0,
      .frames = record.frames != 0,
      .signal_graph = record.signal_graph != 0,
      .store = {.piece_s = record.piece_s, .key = record.store_key, .saves = record.saves != 0}};
}

std::span<const scene::Command> read_commands(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(scene::Command) != 0) {
    throw WorkerError("{} bytes are no whole number of commands", bytes.size());
  }
  return {reinterpret_cast<const scene::Command*>(bytes.data()),
          bytes.size() / sizeof(scene::Command)};
}

std::size_t order_bytes(std::int64_t max_vehicles) {
  return std::max(kEpisodeBytes, static_cast<std::size_t>(max_vehicles) * sizeof(scene::Command));
}

}  // namespace traffic::rollout
