/// The encoder and the world model over the frames of several simulations.
#include <algorithm>

#include "phase2_frames.h"
#include "phase2_perception.h"

namespace traffic::train {
namespace {

/// The frame that many before the last; null if there are fewer.
const rollout::FrameView* frame_of(const Sighting& sighting, std::size_t ago) {
  const auto& frames = sighting.period->frames;
  return ago < frames.size() ? &frames[frames.size() - 1 - ago] : nullptr;
}

/// Rows of the old states, joined, for each vehicle of the frames that many before the last; the
/// row behind all of them for one that has just appeared.
std::vector<std::int64_t> remembered_rows(std::span<const Sighting> sightings, std::size_t ago) {
  constexpr std::int64_t kUnseen = -1;
  std::vector<std::int64_t> rows;
  std::int64_t known = 0;
  for (const Sighting& sighting : sightings) {
    const rollout::FrameView* frame = frame_of(sighting, ago);
    if (frame == nullptr) continue;
    const auto& ids = sighting.memory->vehicle_id;
    auto at = ids.begin();
    for (const std::uint32_t id : frame->vehicle_id) {
      at = std::lower_bound(at, ids.end(), id);
      rows.push_back(at != ids.end() && *at == id ? known + (at - ids.begin()) : kUnseen);
    }
    known += static_cast<std::int64_t>(ids.size());
  }
  std::replace(rows.begin(), rows.end(), kUnseen, known);
  return rows;
}

model::GraphBatch to_device(const model::GraphBatch& graph, torch::Device device) {
  if (device.is_cpu()) return graph;
  return {.node_features = graph.node_features.to(device),
          .edge_ptr = graph.edge_ptr.to(device),
          .edge_src = graph.edge_src.to(device),
          .edge_features = graph.edge_features.to(device)};
}

}  // namespace

torch::Tensor Perception::remember(std::span<const Sighting> sightings, std::size_t ago,
                                   const torch::Tensor& encoding) {
  std::vector<torch::Tensor> hidden;
  std::vector<torch::Tensor> cell;
  for (const Sighting& sighting : sightings) {
    if (frame_of(sighting, ago) == nullptr || sighting.memory->vehicle_id.empty()) continue;
    hidden.push_back(sighting.memory->state.hidden);
    cell.push_back(sighting.memory->state.cell);
  }
  hidden.push_back(unseen_.hidden);
  cell.push_back(unseen_.cell);
  const torch::Tensor rows =
      torch::tensor(remembered_rows(sightings, ago), torch::kLong).to(device_);
  model::LstmState state{.hidden = torch::cat(hidden, 1).index_select(1, rows),
                         .cell = torch::cat(cell, 1).index_select(1, rows)};
  torch::Tensor out = world_model_->step(encoding, state);
  std::int64_t row = 0;
  for (const Sighting& sighting : sightings) {
    const rollout::FrameView* frame = frame_of(sighting, ago);
    if (frame == nullptr) continue;
    const std::int64_t n = frame->num_nodes();
    sighting.memory->vehicle_id.assign(frame->vehicle_id.begin(), frame->vehicle_id.end());
    sighting.memory->state = {.hidden = state.hidden.narrow(1, row, n),
                              .cell = state.cell.narrow(1, row, n)};
    row += n;
  }
  return out;
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
    out.hidden = remember(sightings, rounds - 1 - round, rows_of(all, round));
  }
  out.nodes = rows_of(graph.node_features, rounds - 1);
  out.encoding = rows_of(all, rounds - 1).to(torch::kCPU).contiguous();
  return out;
}

}  // namespace traffic::train
