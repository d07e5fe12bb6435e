#include "period_codec.h"

#include <cstring>

#include "period_layout.h"
#include "traffic/scene/frame_builder.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout {
namespace {

/// Room for the data whose size does not grow with the vehicles: growth by step and conflict, and
/// all lights.
constexpr std::size_t kFixedBytes = std::size_t{17} << 20;

std::uint32_t count_of(std::size_t size) { return static_cast<std::uint32_t>(size); }

}  // namespace

std::size_t period_bytes(std::int64_t max_frames, std::int64_t max_vehicles) {
  const auto frames = static_cast<std::size_t>(max_frames);
  const auto vehicles = static_cast<std::size_t>(max_vehicles);
  const std::size_t edges = vehicles * static_cast<std::size_t>(scene::kMaxNeighbours);
  const std::size_t node_bytes = sizeof(std::uint32_t) + sizeof(std::int32_t) +
                                 sizeof(float) * (2 + scene::node_features().size());
  const std::size_t edge_bytes = sizeof(std::int32_t) + sizeof(float) * kEdgeFeatures;
  const std::size_t frame_bytes = sizeof(FrameHead) + vehicles * node_bytes + edges * edge_bytes;
  // A script commands a vehicle about once a second at most, an advisor once in a period.
  const std::size_t vehicle_bytes =
      sizeof(scene::Candidate) + sizeof(ControlledVehicle) + sizeof(scene::Command) * (frames + 1);
  return frames * frame_bytes + vehicles * vehicle_bytes + kFixedBytes;
}

void PeriodWriter::begin(std::span<std::byte> buffer) {
  writer_ = ByteWriter(buffer);
  writer_.put_one(PeriodHead{});
  num_frames_ = 0;
}

void PeriodWriter::add_frame(const scene::GraphFrame& frame) {
  writer_.put_one(FrameHead{.mark = kFrameMark,
                            .nodes = static_cast<std::uint32_t>(frame.num_nodes()),
                            .edges = static_cast<std::uint32_t>(frame.num_edges()),
                            .features = count_of(scene::node_features().size()),
                            .time_s = frame.time_s,
                            .globals = frame.global_features});
  writer_.put(std::span(frame.vehicle_id));
  writer_.put(std::span(frame.xy_m));
  writer_.put(std::span(frame.node_features));
  writer_.put(std::span(frame.edge_ptr));
  writer_.put(std::span(frame.edge_src));
  writer_.put(std::span(frame.edge_features));
  ++num_frames_;
}

std::size_t PeriodWriter::finish(const Period& period) {
  const VehicleSection& vehicles = period.vehicles;
  const LightSection& lights = period.lights;
  writer_.put(vehicles.candidates);
  writer_.put(vehicles.controlled);
  writer_.put(vehicles.scripted);
  writer_.put(vehicles.advice);
  writer_.put(period.growth);
  writer_.put(period.conflict_growth);
  writer_.put(lights.lost_s);
  writer_.put(lights.choices);
  writer_.put(lights.rows);
  writer_.put(lights.graph.node_features);
  writer_.put(lights.graph.edge_ptr);
  writer_.put(lights.graph.edge_src);
  writer_.put(lights.graph.edge_features);
  const PeriodHead head{.mark = kPeriodMark,
                        .terminated = period.terminated,
                        .truncated = period.truncated,
                        .num_frames = num_frames_,
                        .num_candidates = count_of(vehicles.candidates.size()),
                        .num_controlled = count_of(vehicles.controlled.size()),
                        .num_scripted = count_of(vehicles.scripted.size()),
                        .num_advice = count_of(vehicles.advice.size()),
                        .num_steps = count_of(period.growth.size()),
                        .num_conflicts = static_cast<std::uint32_t>(period.num_conflicts),
                        .num_lights = count_of(lights.lost_s.size()),
                        .num_choices = count_of(lights.choices.size()),
                        .num_rows = count_of(lights.rows.size() / scene::signal_features().size()),
                        .num_nodes = static_cast<std::uint32_t>(lights.graph.num_nodes()),
                        .num_edges = count_of(lights.graph.edge_src.size()),
                        .time_s = period.time_s,
                        .score = period.score};
  std::memcpy(writer_.room().data(), &head, sizeof(head));
  return writer_.used();
}

}  // namespace traffic::rollout
