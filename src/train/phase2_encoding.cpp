/// The encoder and the world model over the frames of several simulations.
#include <algorithm>
#include <utility>

#include "phase2_frames.h"
#include "phase2_perception.h"
#include "traffic/core/error.h"
#include "traffic/scene/frame.h"

namespace traffic::train {
namespace {

/// The frame that many before the last; null if there are fewer.
const rollout::FrameView* frame_of(const Sighting& sighting, std::size_t ago) {
  const auto& frames = sighting.period->frames;
  return ago < frames.size() ? &frames[frames.size() - 1 - ago] : nullptr;
}

/// The connected vehicles of some frames.
struct Connected {
  std::vector<std::uint32_t> vehicle_id;
  std::vector<std::int64_t> node;     ///< their rows among all vehicles of the frames
  std::vector<std::int64_t> old_row;  ///< among the old states, joined; behind all of them for one
                                      ///< that has just appeared
  std::vector<std::int64_t> count;    ///< of each frame
};

Connected find_connected(std::span<const Sighting> sightings, std::size_t ago) {
  static const auto kIsCv = static_cast<std::size_t>(scene::node_feature_index("is_cv"));
  constexpr std::int64_t kUnseen = -1;
  const std::size_t columns = scene::node_features().size();
  Connected all;
  std::int64_t known = 0;
  std::int64_t nodes = 0;
  for (const Sighting& sighting : sightings) {
    const rollout::FrameView* frame = frame_of(sighting, ago);
    if (frame == nullptr) continue;
    const auto& ids = sighting.memory->vehicle_id;
    const std::size_t before = all.node.size();
    auto at = ids.begin();
    for (std::size_t i = 0; i < frame->vehicle_id.size(); ++i) {
      if (frame->node_features[i * columns + kIsCv] < 0.5F) continue;
      const std::uint32_t id = frame->vehicle_id[i];
      at = std::lower_bound(at, ids.end(), id);
      all.vehicle_id.push_back(id);
      all.node.push_back(nodes + static_cast<std::int64_t>(i));
      all.old_row.push_back(at != ids.end() && *at == id ? known + (at - ids.begin()) : kUnseen);
    }
    all.count.push_back(static_cast<std::int64_t>(all.node.size() - before));
    known += static_cast<std::int64_t>(ids.size());
    nodes += frame->num_nodes();
  }
  std::replace(all.old_row.begin(), all.old_row.end(), kUnseen, known);
  return all;
}

model::GraphBatch to_device(const model::GraphBatch& graph, torch::Device device) {
  if (device.is_cpu()) return graph;
  return {.node_features = graph.node_features.to(device),
          .edge_ptr = graph.edge_ptr.to(device),
          .edge_src = graph.edge_src.to(device),
          .edge_features = graph.edge_features.to(device)};
}

}  // namespace

void Perception::remember(std::span<const Sighting> sightings, std::size_t ago,
                          const torch::Tensor& encoding, Encoded& into) {
  std::vector<torch::Tensor> hidden;
  std::vector<torch::Tensor> cell;
  for (const Sighting& sighting : sightings) {
    if (frame_of(sighting, ago) == nullptr || sighting.memory->vehicle_id.empty()) continue;
    hidden.push_back(sighting.memory->state.hidden);
    cell.push_back(sighting.memory->state.cell);
  }
  hidden.push_back(unseen_.hidden);
  cell.push_back(unseen_.cell);
  Connected seen = find_connected(sightings, ago);
  const auto rows = [&](const std::vector<std::int64_t>& of) {
    return torch::tensor(of, torch::kLong).to(device_);
  };
  const torch::Tensor old_rows = rows(seen.old_row);
  model::LstmState state{.hidden = torch::cat(hidden, 1).index_select(1, old_rows),
                         .cell = torch::cat(cell, 1).index_select(1, old_rows)};
  into.hidden = world_model_->step(encoding.index_select(0, rows(seen.node)), state);
  into.connected = std::move(seen.node);
  std::int64_t row = 0;
  auto count = seen.count.begin();
  for (const Sighting& sighting : sightings) {
    if (frame_of(sighting, ago) == nullptr) continue;
    const auto first = seen.vehicle_id.begin() + row;
    sighting.memory->vehicle_id.assign(first, first + *count);
    sighting.memory->state = {.hidden = state.hidden.narrow(1, row, *count),
                              .cell = state.cell.narrow(1, row, *count)};
    row += *count++;
  }
}

torch::Tensor Perception::latents_of(const Candidates& candidates, const Encoded& encoded) {
  const auto& connected = encoded.connected;
  std::vector<std::int64_t> rows;
  for (const std::int64_t node : candidates.row) {
    const auto at = std::lower_bound(connected.begin(), connected.end(), node);
    TRAFFIC_CHECK(at != connected.end() && *at == node, "a candidate that is not connected");
    rows.push_back(at - connected.begin());
  }
  const torch::Tensor of_candidates = torch::tensor(rows, torch::kLong).to(device_);
  return world_model_->latents(encoded.hidden.index_select(0, of_candidates)).to(torch::kCPU);
}

Perception::Encoded Perception::encode(std::span<const Sighting> sightings) {
  std::size_t rounds = 1;  // without a world model to feed, only the last frame of each matters
  for (const Sighting& sighting : sightings) {
    if (groups_.latents) rounds = std::max(rounds, sighting.period->frames.size());
  }
  // Rounds end together, so that the last frames are the last rows.
  std::vector<const rollout::FrameView*> frames;
  std::vector<std::int64_t> round_ptr{0};
  for (std::size_t ago = rounds; ago-- > 0;) {
    std::int64_t row = round_ptr.back();
    for (const Sighting& sighting : sightings) {
      const rollout::FrameView* frame = frame_of(sighting, ago);
      if (frame == nullptr) continue;
      frames.push_back(frame);
      row += frame->num_nodes();
    }
    round_ptr.push_back(row);
  }
  Encoded out;
  if (!groups_.any_encoding()) {
    out.nodes = pack_nodes(frames);
    return out;
  }
  const model::GraphBatch graph = pack_graphs(frames);
  const auto rows_of = [&](const torch::Tensor& all, std::size_t round) {
    return all.narrow(0, round_ptr[round], round_ptr[round + 1] - round_ptr[round]);
  };
  const torch::Tensor all = encoder_->forward(to_device(graph, device_));
  for (std::size_t round = 0; groups_.latents && round < rounds; ++round) {
    remember(sightings, rounds - 1 - round, rows_of(all, round), out);
  }
  out.nodes = rows_of(graph.node_features, rounds - 1);
  out.encoding = rows_of(all, rounds - 1).to(torch::kCPU).contiguous();
  return out;
}

}  // namespace traffic::train
