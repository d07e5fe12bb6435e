#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>

#include "checked_bytes.h"
#include "period_codec.h"
#include "period_records.h"
#include "traffic/core/error.h"

namespace traffic::rollout {
namespace {

void check_ids(std::span<const std::uint32_t> ids) {
  if (std::adjacent_find(ids.begin(), ids.end(), std::greater_equal<>()) != ids.end()) {
    throw WorkerError("observation's vehicle ids are not ascending");
  }
}

scene::FrameView read_frame(Cursor& cursor, std::size_t num_features) {
  const FrameHead& head = cursor.take<FrameHead>(1, "a frame")[0];
  if (head.mark != kFrameMark || head.features != num_features) {
    throw WorkerError("observation holds no frame where one was announced");
  }
  // Read once: the counts that are checked are the counts that are used.
  const std::uint64_t nodes = head.nodes;
  const std::uint64_t edges = head.edges;
  scene::FrameView frame;
  frame.time_s = head.time_s;
  frame.global_features = head.globals;
  frame.vehicle_id = cursor.take<std::uint32_t>(nodes, "vehicle_id");
  frame.xy_m = cursor.take<float>(nodes * 2, "xy_m");
  frame.node_features = cursor.take<float>(nodes * num_features, "node_features");
  frame.edge_ptr = cursor.take<std::int32_t>(nodes + 1, "edge_ptr");
  frame.edge_src = cursor.take<std::int32_t>(edges, "edge_src");
  frame.edge_features = cursor.take<float>(edges * kEdgeFeatures, "edge_features");
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
  const std::int64_t nodes = period.frames.empty() ? 0 : period.frames.back().num_nodes();
  for (const scene::Candidate& candidate : period.candidates) {
    if (candidate.node < 0 || candidate.node >= nodes || candidate.conflict < 0 ||
        candidate.conflict >= period.num_conflicts || candidate.approach < -1) {
      throw WorkerError("observation's candidate is vehicle {} of {} before conflict {} of {}",
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
      throw WorkerError("observation's command for vehicle {} is none", command.vehicle_id);
    }
  }
}

}  // namespace

void read_period(std::span<const std::byte> bytes, Period& out) {
  Cursor cursor(bytes);
  const PeriodHead& shared = cursor.take<PeriodHead>(1, "the head")[0];
  PeriodHead head;
  std::memcpy(&head, &shared, sizeof(head));
  if (head.mark != kPeriodMark) throw WorkerError("the answer is no observation");
  if (head.num_frames > bytes.size() / sizeof(FrameHead)) {
    throw WorkerError("observation is cut off: {} frames in {} bytes", head.num_frames,
                      bytes.size());
  }
  out.time_s = head.time_s;
  out.terminated = head.terminated != 0;
  out.truncated = head.truncated != 0;
  out.num_conflicts = head.num_conflicts;
  out.score = head.score;
  out.frames.clear();
  const std::size_t num_features = scene::node_features().size();
  for (std::uint32_t f = 0; f < head.num_frames; ++f) {
    out.frames.push_back(read_frame(cursor, num_features));
  }
  const std::uint64_t steps = head.num_steps;
  out.growth = cursor.take<double>(steps, "growth");
  out.conflict_growth = cursor.take<double>(steps * head.num_conflicts, "conflict_growth");
  out.candidates = cursor.take<scene::Candidate>(head.num_candidates, "candidates");
  out.controlled = cursor.take<ControlledVehicle>(head.num_controlled, "controlled");
  out.scripted = cursor.take<scene::Command>(head.num_scripted, "scripted");
  out.advice = cursor.take<scene::Command>(head.num_advice, "advice");
  if (!cursor.empty())
    throw WorkerError("observation is followed by bytes that are not part of it");
  require_plausible(std::span<const double>(&head.time_s, 1), "time_s");
  require_plausible(out.growth, "growth");
  require_plausible(out.conflict_growth, "conflict_growth");
  check_candidates(out);
  check_commands(out.scripted);
  check_commands(out.advice);
  check_score(out.score);
}

}  // namespace traffic::rollout
