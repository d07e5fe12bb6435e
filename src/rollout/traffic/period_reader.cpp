#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "period_codec.h"
#include "period_layout.h"
#include "traffic/core/error.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout {
namespace {

void check_score(const scene::EpisodeScore& score) {
  const std::array<double, 8> numbers{
      score.seconds,       score.completion_sum, score.speed_sum,      score.speed_square_sum,
      score.abs_accel_sum, score.time_loss_s,    score.depart_delay_s, score.standing_s};
  require_plausible(std::span<const double>(numbers), "the score");
}

/// Checks edges that are sorted by destination: edge_ptr [nodes + 1] rises from 0 to the number of
/// edges, and edge_src holds indices of nodes.
void check_edges(std::span<const std::int32_t> edge_ptr, std::span<const std::int32_t> edge_src) {
  const auto edges = static_cast<std::int32_t>(edge_src.size());
  const auto nodes = static_cast<std::int32_t>(edge_ptr.size()) - 1;
  if (edge_ptr.front() != 0 || edge_ptr.back() != edges ||
      !std::is_sorted(edge_ptr.begin(), edge_ptr.end())) {
    throw WorkerError("observation's edge_ptr does not lead from 0 to {} edges", edges);
  }
  for (const std::int32_t source : edge_src) {
    if (source < 0 || source >= nodes) {
      throw WorkerError("observation's edge comes from node {} of {}", source, nodes);
    }
  }
}

void check_ids(std::span<const std::uint32_t> ids) {
  if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) != ids.end()) {
    throw WorkerError("observation's vehicle ids are not ascending");
  }
}

scene::FrameView read_frame(ByteReader& reader, std::size_t num_features) {
  // The frame's view of the global features points into the head itself.
  const FrameHead& head = reader.take<FrameHead>(1, "a frame")[0];
  if (head.mark != kFrameMark || head.features != num_features) {
    throw WorkerError("observation holds no frame where one was announced");
  }
  // Each count is read once, so that the checked values are the values that are used.
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

void check_candidates(const Period& period) {
  const auto& frames = period.vehicles.frames;
  const std::int64_t nodes = frames.empty() ? 0 : frames.back().num_nodes();
  for (const scene::Candidate& candidate : period.vehicles.candidates) {
    if (candidate.node < 0 || candidate.node >= nodes || candidate.conflict < 0 ||
        candidate.conflict >= period.num_conflicts || candidate.approach < -1) {
      throw WorkerError(
          "observation's candidate is vehicle {} of {} before conflict {} of {}: "
          "expected indices below these numbers",
          candidate.node, nodes, candidate.conflict, period.num_conflicts);
    }
  }
}

void check_commands(std::span<const scene::Command> commands) {
  for (const scene::Command& command : commands) {
    if (command.longitudinal > scene::kLastLongitudinal ||
        command.lane_change < scene::LaneChange::kRight ||
        command.lane_change > scene::LaneChange::kLeft || !std::isfinite(command.value) ||
        !std::isfinite(command.hold_s)) {
      throw WorkerError("observation's command for vehicle {} is not a command",
                        command.vehicle_id);
    }
  }
}

void read_vehicles(ByteReader& reader, const PeriodHead& head, VehicleSection& out) {
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
}

void check_choices(const LightSection& lights, std::uint64_t rows) {
  std::uint64_t announced = 0;
  std::int32_t light = -1;
  for (const LightChoice& choice : lights.choices) {
    const bool ordered =
        choice.light > light && static_cast<std::size_t>(choice.light) < lights.lost_s.size();
    if (!ordered || choice.num_greens < 2 || choice.present < 0 ||
        choice.present >= choice.num_greens) {
      throw WorkerError(
          "observation asks for one of {} greens of light {} of {}, of which {} is on",
          choice.num_greens, choice.light, lights.lost_s.size(), choice.present);
    }
    light = choice.light;
    announced += static_cast<std::uint64_t>(choice.num_greens);
  }
  if (announced != rows) {
    throw WorkerError("observation has {} rows of greens, its choices have {}", rows, announced);
  }
}

scene::SignalGraphView read_light_graph(ByteReader& reader, std::uint64_t nodes,
                                        std::uint64_t edges) {
  if (nodes == 0) return {};
  scene::SignalGraphView graph;
  graph.node_features =
      reader.take<float>(nodes * scene::num_signal_node_features(), "node_features");
  graph.edge_ptr = reader.take<std::int32_t>(nodes + 1, "edge_ptr");
  graph.edge_src = reader.take<std::int32_t>(edges, "edge_src");
  graph.edge_features =
      reader.take<float>(edges * scene::signal_edge_features().size(), "edge_features");
  require_plausible(graph.node_features, "node_features");
  require_plausible(graph.edge_features, "edge_features");
  check_edges(graph.edge_ptr, graph.edge_src);
  return graph;
}

void read_lights(ByteReader& reader, const PeriodHead& head, LightSection& out) {
  out.lost_s = reader.take<double>(head.num_lights, "lost_s");
  out.choices = reader.take<LightChoice>(head.num_choices, "choices");
  const std::uint64_t rows = head.num_rows;
  out.rows = reader.take<float>(rows * scene::signal_features().size(), "rows");
  out.graph = read_light_graph(reader, head.num_nodes, head.num_edges);
  require_plausible(out.lost_s, "lost_s");
  require_plausible(out.rows, "rows");
  check_choices(out, rows);
  if (head.num_nodes != 0 && head.num_nodes != head.num_lights) {
    throw WorkerError("observation's graph has {} lights of {}", head.num_nodes, head.num_lights);
  }
}

}  // namespace

void read_period(std::span<const std::byte> bytes, Period& out) {
  ByteReader reader(bytes);
  const auto head = reader.take_one<PeriodHead>("the head");
  if (head.mark != kPeriodMark) throw WorkerError("the answer is no observation");
  if (head.num_frames > bytes.size() / sizeof(FrameHead)) {
    throw WorkerError("message is cut off: {} frames in {} bytes", head.num_frames, bytes.size());
  }
  out.time_s = head.time_s;
  out.terminated = head.terminated != 0;
  out.truncated = head.truncated != 0;
  out.num_conflicts = head.num_conflicts;
  out.score = head.score;
  read_vehicles(reader, head, out.vehicles);
  const std::uint64_t steps = head.num_steps;
  out.growth = reader.take<double>(steps, "growth");
  out.conflict_growth = reader.take<double>(steps * head.num_conflicts, "conflict_growth");
  read_lights(reader, head, out.lights);
  reader.expect_end();
  require_plausible(std::span<const double>(&head.time_s, 1), "time_s");
  require_plausible(out.growth, "growth");
  require_plausible(out.conflict_growth, "conflict_growth");
  check_candidates(out);
  check_score(out.score);
}

}  // namespace traffic::rollout
