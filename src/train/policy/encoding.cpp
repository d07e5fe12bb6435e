/// Perception::encode() and its helpers: they run the encoder and the world model on the frames of
/// several simulations.
#include <algorithm>
#include <utility>

#include "policy/frames.h"
#include "policy/perception.h"
#include "traffic/core/error.h"
#include "traffic/scene/frame.h"

namespace traffic::train {
namespace {

/// The frame `ago` frames before the last one; null if there are too few frames.
const scene::FrameView* frame_of(const ObservationInput& input, std::size_t ago) {
  const auto& frames = input.period->of<rollout::VehicleSection>().frames;
  return ago < frames.size() ? &frames[frames.size() - 1 - ago] : nullptr;
}

/// Row of each connected vehicle in the concatenated memories. All vehicles that have just appeared
/// get the same row, behind all memories; it holds the initial state.
std::vector<std::int64_t> known_rows(std::span<RecurrentState* const> memories,
                                     const ConnectedVehicles& connected, std::size_t first_frame) {
  constexpr std::int64_t kUnseen = -1;
  std::vector<std::int64_t> rows;
  std::int64_t known = 0;
  for (std::size_t f = 0; f < memories.size(); ++f) {
    const auto& ids = memories[f]->vehicle_id;
    auto at = ids.begin();
    for (const std::uint32_t id : connected.ids_of(first_frame + f)) {
      at = std::lower_bound(at, ids.end(), id);
      rows.push_back(at != ids.end() && *at == id ? known + (at - ids.begin()) : kUnseen);
    }
    known += static_cast<std::int64_t>(ids.size());
  }
  std::replace(rows.begin(), rows.end(), kUnseen, known);
  return rows;
}

}  // namespace

torch::Tensor Perception::remember(std::span<RecurrentState* const> memories,
                                   const ConnectedVehicles& connected, std::size_t first_frame,
                                   const torch::Tensor& encoding) {
  std::vector<torch::Tensor> hidden;
  std::vector<torch::Tensor> cell;
  for (const RecurrentState* memory : memories) {
    if (memory->vehicle_id.empty()) continue;
    hidden.push_back(memory->state.hidden);
    cell.push_back(memory->state.cell);
  }
  hidden.push_back(unseen_.hidden);
  cell.push_back(unseen_.cell);
  const torch::Tensor old_rows =
      torch::tensor(known_rows(memories, connected, first_frame), torch::kLong).to(device_);
  model::LstmState state{.hidden = torch::cat(hidden, 1).index_select(1, old_rows),
                         .cell = torch::cat(cell, 1).index_select(1, old_rows)};
  torch::Tensor out = world_model_->step(encoding, state);
  std::int64_t row = 0;
  for (std::size_t f = 0; f < memories.size(); ++f) {
    const auto ids = connected.ids_of(first_frame + f);
    const auto count = static_cast<std::int64_t>(ids.size());
    memories[f]->vehicle_id.assign(ids.begin(), ids.end());
    memories[f]->state = {.hidden = state.hidden.narrow(1, row, count),
                          .cell = state.cell.narrow(1, row, count)};
    row += count;
  }
  return out;
}

Perception::Encoded Perception::encode(std::span<const ObservationInput> inputs) {
  // A round holds one frame of each simulation. The world model needs all frames of the period. If
  // it is not used, the last frame is enough.
  std::size_t rounds = 1;
  for (const ObservationInput& input : inputs) {
    if (groups_.latents)
      rounds = std::max(rounds, input.period->of<rollout::VehicleSection>().frames.size());
  }
  // The last round holds the last frame of every simulation, so that the nodes of these frames are
  // the last rows of the graph.
  std::vector<const scene::FrameView*> frames;
  std::vector<RecurrentState*> memories;  // [frames] memory of the simulation of each frame
  std::vector<std::size_t> round_ptr{0};
  for (std::size_t ago = rounds; ago-- > 0;) {
    for (const ObservationInput& input : inputs) {
      const scene::FrameView* frame = frame_of(input, ago);
      if (frame == nullptr) continue;
      frames.push_back(frame);
      memories.push_back(input.memory);
    }
    round_ptr.push_back(frames.size());
  }
  Encoded out;
  if (!groups_.any_encoding()) {
    out.nodes = pack_nodes(frames);
    return out;
  }
  const model::GraphBatch graph = pack_graphs(frames);
  const ConnectedVehicles connected = find_connected(frames);
  const torch::Tensor encoding = encoder_->forward(
      model::receptive_field(graph, connected.node, encoder_->num_layers()).to(device_));
  torch::Tensor hidden;
  for (std::size_t round = 0; groups_.latents && round < rounds; ++round) {
    const std::size_t first = round_ptr[round];
    const std::size_t end = round_ptr[round + 1];
    hidden = remember(std::span(memories).subspan(first, end - first), connected, first,
                      encoding.slice(0, connected.ptr[first], connected.ptr[end]));
  }
  const std::size_t last = round_ptr[rounds - 1];
  const std::int64_t first_node = graph.num_nodes() - num_nodes(std::span(frames).subspan(last));
  out.nodes = graph.node_features.slice(0, first_node);
  out.encoding = encoding.slice(0, connected.ptr[last]).to(torch::kCPU).contiguous();
  if (groups_.latents) out.hidden = hidden;
  for (std::size_t f = last; f <= frames.size(); ++f) {
    out.connected_ptr.push_back(connected.ptr[f] - connected.ptr[last]);
  }
  for (auto i = static_cast<std::size_t>(connected.ptr[last]); i < connected.node.size(); ++i) {
    out.connected.push_back(connected.node[i] - first_node);
  }
  return out;
}

}  // namespace traffic::train
