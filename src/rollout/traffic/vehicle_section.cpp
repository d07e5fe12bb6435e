// Encodes and decodes what a simulation tells its rank about vehicles (vehicle_section.h).
#include "vehicle_section.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "graph_edges.h"
#include "section_head.h"
#include "traffic/core/error.h"
#include "traffic/scene/frame_builder.h"

namespace traffic::rollout {
namespace {

constexpr std::uint32_t kFrameMark = 0x54524652;
constexpr std::size_t kGlobals = std::tuple_size_v<decltype(scene::GraphFrame::global_features)>;
constexpr std::size_t kEdgeFeatures = 4;

/// Head of the section: numbers of elements. The frames (graphs of all vehicles) follow, then the
/// arrays candidates, controlled, scripted and advice.
struct VehiclesHead {
  std::uint32_t num_frames;
  std::uint32_t num_candidates;
  std::uint32_t num_controlled;
  std::uint32_t num_scripted;
  std::uint32_t num_advice;
};

/// Head of a frame. Its arrays follow: vehicle_id, xy_m, node_features, edge_ptr, edge_src,
/// edge_features.
struct FrameHead {
  std::uint32_t mark;
  std::uint32_t nodes;
  std::uint32_t edges;
  std::uint32_t features;
  double time_s;
  std::array<float, kGlobals> globals;
};

void write_frame(const scene::FrameView& frame, ByteWriter& section) {
  FrameHead head{.mark = kFrameMark,
                 .nodes = static_cast<std::uint32_t>(frame.num_nodes()),
                 .edges = static_cast<std::uint32_t>(frame.num_edges()),
                 .features = count_of(scene::node_features().size()),
                 .time_s = frame.time_s,
                 .globals = {}};
  std::ranges::copy(frame.global_features, head.globals.begin());
  section.put_one(head);
  section.put(frame.vehicle_id);
  section.put(frame.xy_m);
  section.put(frame.node_features);
  section.put(frame.edge_ptr);
  section.put(frame.edge_src);
  section.put(frame.edge_features);
}

void check_ids(std::span<const std::uint32_t> ids) {
  if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) != ids.end()) {
    throw WorkerError("the vehicle ids in the observation are not ascending");
  }
}

scene::FrameView read_frame(ByteReader& reader, std::size_t num_features) {
  // The frame's view of the global features points into the head itself.
  const FrameHead& head = reader.take<FrameHead>(1, "a frame")[0];
  if (head.mark != kFrameMark || head.features != num_features) {
    throw WorkerError(
        "the observation is damaged: expected a frame with {} features per vehicle, found other "
        "bytes",
        num_features);
  }
  // Each count is read from shared memory once. If the simulation changes it later, the value that
  // was checked is still the value that is used.
  const std::uint64_t nodes = head.nodes;
  const std::uint64_t edges = head.edges;
  scene::FrameView frame;
  frame.time_s = head.time_s;
  frame.global_features = head.globals;
  frame.vehicle_id = reader.take<std::uint32_t>(nodes, "vehicle_id");
  frame.xy_m = reader.take<float>(nodes * 2, "xy_m");
  frame.node_features = reader.take<float>(nodes * num_features, "node_features");
  frame.edge_ptr = reader.take<std::int32_t>(nodes + 1, "edge_ptr");
  frame.edge_src = reader.take<std::int32_t>(edges, "edge_src");
  frame.edge_features = reader.take<float>(edges * kEdgeFeatures, "edge_features");
  check_edges(frame.edge_ptr, frame.edge_src);
  check_ids(frame.vehicle_id);
  require_plausible(std::span<const double>(&frame.time_s, 1), "time_s");
  require_plausible(frame.global_features, "global_features");
  require_plausible(frame.xy_m, "xy_m");
  require_plausible(frame.node_features, "node_features");
  require_plausible(frame.edge_features, "edge_features");
  return frame;
}

void check_candidates(const VehicleSection& vehicles, std::int64_t num_conflicts) {
  const std::int64_t nodes = vehicles.frames.empty() ? 0 : vehicles.frames.back().num_nodes();
  for (const scene::Candidate& candidate : vehicles.candidates) {
    if (candidate.node < 0 || candidate.node >= nodes || candidate.conflict < 0 ||
        candidate.conflict >= num_conflicts || candidate.approach < -1) {
      throw WorkerError(
          "a candidate in the observation is node {} before conflict {} on approach {}; expected a "
          "node below {}, a conflict below {} and an approach of at least -1",
          candidate.node, candidate.conflict, candidate.approach, nodes, num_conflicts);
    }
  }
}

void check_commands(std::span<const scene::Command> commands) {
  for (const scene::Command& command : commands) {
    if (command.longitudinal > scene::kLastLongitudinal ||
        command.lane_change < scene::LaneChange::kRight ||
        command.lane_change > scene::LaneChange::kLeft || !std::isfinite(command.value) ||
        !std::isfinite(command.hold_s)) {
      throw WorkerError(
          "the command for vehicle {} in the observation has an unknown kind or a number that is "
          "not finite",
          command.vehicle_id);
    }
  }
}

void read_vehicles(ByteReader& reader, Period& period) {
  const auto head = reader.take_one<VehiclesHead>("the head of the vehicles");
  VehicleSection& out = period.sections.get<VehicleSection>();
  out.frames.clear();
  const std::size_t num_features = scene::node_features().size();
  for (std::uint32_t f = 0; f < head.num_frames; ++f) {
    out.frames.push_back(read_frame(reader, num_features));
  }
  out.candidates = reader.take<scene::Candidate>(head.num_candidates, "candidates");
  out.controlled = reader.take<ControlledVehicle>(head.num_controlled, "controlled");
  out.scripted = reader.take<scene::Command>(head.num_scripted, "scripted");
  out.advice = reader.take<scene::Command>(head.num_advice, "advice");
  check_commands(out.scripted);
  check_commands(out.advice);
  check_candidates(out, period.num_conflicts);
}

/// Maximum size of the section: the frames of a control period with rollout.max_vehicles vehicles.
std::size_t bytes_of_answer(const config::Config& config) {
  const auto frames = static_cast<std::size_t>(std::ceil(config.env.control_period_s)) + 1;
  const auto vehicles = static_cast<std::size_t>(config.rollout.max_vehicles);
  const std::size_t edges = vehicles * static_cast<std::size_t>(scene::kMaxNeighbours);
  const std::size_t node_bytes = sizeof(std::uint32_t) + sizeof(std::int32_t) +
                                 sizeof(float) * (2 + scene::node_features().size());
  const std::size_t edge_bytes = sizeof(std::int32_t) + sizeof(float) * kEdgeFeatures;
  // The arrays of a frame are padded, and edge_ptr has one entry more than there are nodes.
  constexpr std::size_t kPadding = 8 * kUnit;
  const std::size_t frame_bytes =
      sizeof(FrameHead) + vehicles * node_bytes + edges * edge_bytes + kPadding;
  // A script commands a vehicle at most about once a second. An advisor commands it once in a
  // period.
  const std::size_t vehicle_bytes =
      sizeof(scene::Candidate) + sizeof(ControlledVehicle) + sizeof(scene::Command) * (frames + 1);
  return sizeof(VehiclesHead) + frames * frame_bytes + vehicles * vehicle_bytes + kPadding;
}

}  // namespace

void write_vehicles(const VehicleSection& vehicles, ByteWriter& section) {
  section.put_one(VehiclesHead{.num_frames = count_of(vehicles.frames.size()),
                               .num_candidates = count_of(vehicles.candidates.size()),
                               .num_controlled = count_of(vehicles.controlled.size()),
                               .num_scripted = count_of(vehicles.scripted.size()),
                               .num_advice = count_of(vehicles.advice.size())});
  for (const scene::FrameView& frame : vehicles.frames) write_frame(frame, section);
  section.put(vehicles.candidates);
  section.put(vehicles.controlled);
  section.put(vehicles.scripted);
  section.put(vehicles.advice);
}

AgentFormat vehicles_format() {
  return {.agent = kVehicles,
          .order_bytes =
              [](const config::Config& config) {
                return static_cast<std::size_t>(config.rollout.max_vehicles) *
                       sizeof(scene::Command);
              },
          .answer_bytes = bytes_of_answer,
          .read = read_vehicles};
}

}  // namespace traffic::rollout
