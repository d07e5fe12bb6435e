#include "phase2_perception.h"

#include <algorithm>
#include <string>

#include "phase2_pooling.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/model/initialise.h"
#include "traffic/scene/frame.h"

namespace traffic::train {
namespace {

constexpr std::uint64_t kEncoderStream = 2;
constexpr std::uint64_t kWorldModelStream = 3;

torch::Tensor view_of(std::span<const float> values, torch::IntArrayRef sizes) {
  return torch::from_blob(const_cast<float*>(values.data()), sizes, torch::kFloat);
}

/// (value - offset) / scale, in place.
torch::Tensor normalised(const torch::Tensor& values, std::span<const scene::FeatureSpec> specs) {
  const auto n = static_cast<std::int64_t>(specs.size());
  torch::Tensor offset = torch::empty({n});
  torch::Tensor scale = torch::empty({n});
  for (std::int64_t i = 0; i < n; ++i) {
    offset[i] = specs[static_cast<std::size_t>(i)].offset;
    scale[i] = specs[static_cast<std::size_t>(i)].scale;
  }
  return (values - offset) / scale;
}

torch::Tensor node_features(std::span<const rollout::FrameView* const> frames) {
  const auto columns = static_cast<std::int64_t>(scene::node_features().size());
  std::vector<torch::Tensor> parts;
  for (const auto* frame : frames) {
    parts.push_back(view_of(frame->node_features, {frame->num_nodes(), columns}));
  }
  return normalised(torch::cat(parts), scene::node_features());
}

/// The graphs of several frames as one.
model::GraphBatch pack(std::span<const rollout::FrameView* const> frames) {
  model::GraphBatch graph;
  graph.node_features = node_features(frames);
  std::vector<std::int32_t> ptr{0};
  std::vector<std::int32_t> src;
  std::vector<torch::Tensor> edges;
  std::int32_t nodes = 0;
  for (const auto* frame : frames) {
    const std::int32_t first = ptr.back();
    for (std::size_t i = 1; i < frame->edge_ptr.size(); ++i) {
      ptr.push_back(first + frame->edge_ptr[i]);
    }
    for (const std::int32_t source : frame->edge_src) src.push_back(nodes + source);
    edges.push_back(view_of(frame->edge_features, {frame->num_edges(), 4}));
    nodes += static_cast<std::int32_t>(frame->num_nodes());
  }
  graph.edge_ptr = torch::tensor(ptr, torch::kInt);
  graph.edge_src = torch::tensor(src, torch::kInt);
  graph.edge_features = normalised(torch::cat(edges), scene::edge_features());
  return graph;
}

model::GraphBatch to_device(const model::GraphBatch& graph, torch::Device device) {
  if (device.is_cpu()) return graph;
  return {.node_features = graph.node_features.to(device),
          .edge_ptr = graph.edge_ptr.to(device),
          .edge_src = graph.edge_src.to(device),
          .edge_features = graph.edge_features.to(device)};
}

torch::Tensor join(const std::vector<torch::Tensor>& parts, std::int64_t rows) {
  return parts.empty() ? torch::empty({rows, 0}) : torch::cat(parts, 1);
}

}  // namespace

InputGroups::InputGroups(const std::vector<std::string>& names) {
  for (const std::string& name : names) {
    features = features || name == "features";
    globals = globals || name == "globals";
    encoding = encoding || name == "encoding";
    pooled = pooled || name == "pooled";
    latents = latents || name == "latents";
  }
  if (!features && !globals && !any_encoding()) {
    throw ConfigError("controller.inputs: found nothing, expected at least one");
  }
}

Perception::Perception(const config::Config& config, std::int64_t conflicts, torch::Device device)
    : groups_(config.controller.inputs), conflicts_(conflicts), device_(device) {
  const auto features = static_cast<std::int64_t>(scene::node_features().size());
  const auto globals = static_cast<std::int64_t>(scene::global_features().size());
  const std::int64_t hidden = config.model.hidden_dim;
  widths_.impact = groups_.latents ? 2 * config.model.latent_dim : 0;
  widths_.own =
      (groups_.features ? features : 0) + (groups_.encoding ? hidden : 0) + widths_.impact;
  widths_.shared = (groups_.globals ? globals : 0) + (groups_.pooled ? hidden : 0);
  const auto road = groups_.features ? static_cast<std::int64_t>(road_columns().size()) : 0;
  const std::int64_t seen = road + (groups_.encoding ? hidden : 0) + widths_.impact;
  widths_.conflict =
      widths_.shared + 2 * (1 + seen) + (groups_.features ? kNumPlaces * (1 + road) : 0);
  const auto seed = static_cast<std::uint64_t>(config.run.seed);
  if (groups_.any_encoding()) {
    encoder_ = model::GraphEncoder(config.model, features);
    model::initialise(*encoder_, derive_seed(seed, {kEncoderStream}));
    encoder_->to(device);
    encoder_->eval();
  }
  if (groups_.latents) {
    world_model_ = model::WorldModel(config.model, config.data.horizon_frames);
    model::initialise(*world_model_, derive_seed(seed, {kWorldModelStream}));
    world_model_->to(device);
    world_model_->eval();
  }
}

comm::NamedTensors Perception::parameters() const {
  comm::NamedTensors all;
  if (!encoder_.is_empty()) {
    for (const auto& item : encoder_->named_parameters()) {
      all.emplace_back("encoder." + item.key(), item.value());
    }
  }
  if (!world_model_.is_empty()) {
    for (const auto& item : world_model_->named_parameters()) {
      all.emplace_back("world_model." + item.key(), item.value());
    }
  }
  return all;
}

void Perception::freeze() {
  for (auto& [name, parameter] : parameters()) {
    auto frozen = parameter;
    frozen.set_requires_grad(false);
  }
  const torch::InferenceMode inference;
  if (!encoder_.is_empty()) encoder_->pack_for_inference();
  if (!world_model_.is_empty()) world_model_->pack_for_inference();
}

torch::Tensor Perception::remember(std::span<const Sighting> sightings, std::size_t round,
                                   const torch::Tensor& encoding) {
  std::vector<torch::Tensor> hidden;
  std::vector<torch::Tensor> cell;
  std::vector<std::int64_t> from;  // row of the old state, -1: a vehicle that has just appeared
  std::int64_t known = 0;
  for (const Sighting& sighting : sightings) {
    if (round >= sighting.period->frames.size()) continue;
    const Memory& memory = *sighting.memory;
    const auto ids = sighting.period->frames[round].vehicle_id;
    auto at = memory.vehicle_id.begin();
    for (const std::uint32_t id : ids) {
      at = std::lower_bound(at, memory.vehicle_id.end(), id);
      const bool found = at != memory.vehicle_id.end() && *at == id;
      from.push_back(found ? known + (at - memory.vehicle_id.begin()) : -1);
    }
    if (!memory.vehicle_id.empty()) {
      hidden.push_back(memory.state.hidden);
      cell.push_back(memory.state.cell);
      known += static_cast<std::int64_t>(memory.vehicle_id.size());
    }
  }
  const model::LstmState nothing = world_model_->zero_state(1);
  hidden.push_back(nothing.hidden.to(device_));
  cell.push_back(nothing.cell.to(device_));
  torch::Tensor rows = torch::tensor(from, torch::kLong);
  rows = torch::where(rows < 0, torch::full_like(rows, known), rows).to(device_);
  model::LstmState state{.hidden = torch::cat(hidden, 1).index_select(1, rows),
                         .cell = torch::cat(cell, 1).index_select(1, rows)};
  const torch::Tensor out = world_model_->step(encoding, state);
  std::int64_t row = 0;
  for (const Sighting& sighting : sightings) {
    if (round >= sighting.period->frames.size()) continue;
    const auto ids = sighting.period->frames[round].vehicle_id;
    const auto n = static_cast<std::int64_t>(ids.size());
    sighting.memory->vehicle_id.assign(ids.begin(), ids.end());
    sighting.memory->state = {.hidden = state.hidden.narrow(1, row, n),
                              .cell = state.cell.narrow(1, row, n)};
    row += n;
  }
  return out;
}

Perception::Encoded Perception::encode(std::span<const Sighting> sightings) {
  Encoded out;
  if (!groups_.any_encoding()) return out;
  std::size_t rounds = 0;
  for (const Sighting& s : sightings) rounds = std::max(rounds, s.period->frames.size());
  // Without a world model to feed, only the last frame of each matters.
  std::vector<const rollout::FrameView*> frames;
  std::vector<std::vector<std::int64_t>> first_row(sightings.size());
  std::vector<std::int64_t> round_rows;
  std::int64_t row = 0;
  for (std::size_t round = 0; round < rounds; ++round) {
    const std::int64_t start = row;
    for (std::size_t b = 0; b < sightings.size(); ++b) {
      const auto& of_b = sightings[b].period->frames;
      if (round >= of_b.size() || (!groups_.latents && round + 1 < of_b.size())) continue;
      frames.push_back(&of_b[round]);
      first_row[b].push_back(row);
      row += of_b[round].num_nodes();
    }
    round_rows.push_back(row - start);
  }
  const torch::Tensor all = encoder_->forward(to_device(pack(frames), device_));
  std::vector<torch::Tensor> hidden(sightings.size());
  row = 0;
  for (std::size_t round = 0; groups_.latents && round < rounds; ++round) {
    const torch::Tensor step = remember(sightings, round, all.narrow(0, row, round_rows[round]));
    for (std::size_t b = 0; b < sightings.size(); ++b) {
      const auto& of_b = sightings[b].period->frames;
      if (round + 1 != of_b.size()) continue;
      hidden[b] = step.narrow(0, first_row[b].back() - row, of_b.back().num_nodes());
    }
    row += round_rows[round];
  }
  std::vector<torch::Tensor> last;
  for (std::size_t b = 0; b < sightings.size(); ++b) {
    const auto n = sightings[b].period->frames.back().num_nodes();
    last.push_back(all.narrow(0, first_row[b].back(), n));
  }
  out.encoding = torch::cat(last).to(torch::kCPU);
  if (groups_.latents) out.hidden = torch::cat(hidden);
  return out;
}

ObservationBatch Perception::observe(std::span<const Sighting> sightings) {
  const torch::InferenceMode inference;
  std::vector<const rollout::Period*> periods;
  std::vector<const rollout::FrameView*> last;
  std::vector<std::int64_t> node_ptr{0};
  std::vector<torch::Tensor> globals;
  const auto num_globals = static_cast<std::int64_t>(scene::global_features().size());
  for (const Sighting& sighting : sightings) {
    TRAFFIC_CHECK(!sighting.period->frames.empty(), "an observation without a frame");
    periods.push_back(sighting.period);
    last.push_back(&sighting.period->frames.back());
    node_ptr.push_back(node_ptr.back() + last.back()->num_nodes());
    globals.push_back(view_of(last.back()->global_features, {1, num_globals}));
  }
  const Encoded encoded = encode(sightings);
  const Candidates candidates = find_candidates_of(periods, node_ptr, conflicts_);
  const torch::Tensor rows = torch::tensor(candidates.row, torch::kLong);
  const auto b = static_cast<std::int64_t>(sightings.size());

  std::vector<torch::Tensor> own;
  std::vector<torch::Tensor> shared;
  std::vector<torch::Tensor> state;      // what the value knows beside the candidates
  std::vector<torch::Tensor> of_picked;  // what it knows of them
  constexpr double kMany = 20.0;
  if (groups_.features) {
    const torch::Tensor nodes = node_features(last);
    own.push_back(nodes.index_select(0, rows));
    const torch::Tensor road = nodes.index_select(1, torch::tensor(road_columns()));
    const Pooling vehicles = pool_vehicles(last);
    state.push_back(vehicles.mean(road).view({b, -1}));
    state.push_back(vehicles.counts.view({b, -1}) / kMany);
    of_picked.push_back(road.index_select(0, rows));
  }
  if (groups_.globals) {
    shared.push_back(normalised(torch::cat(globals), scene::global_features()));
  }
  if (groups_.encoding) own.push_back(encoded.encoding.index_select(0, rows));
  if (groups_.pooled) shared.push_back(segment_means(encoded.encoding, node_ptr));
  if (groups_.latents) {
    const torch::Tensor of_rows = encoded.hidden.index_select(0, rows.to(device_));
    own.push_back(world_model_->latents(of_rows).to(torch::kCPU));
  }
  of_picked.insert(of_picked.end(), own.begin() + (groups_.features ? 1 : 0), own.end());

  ObservationBatch out;
  out.own = join(own, rows.size(0));
  out.shared = join(shared, b);
  out.candidate_ptr = candidates.ptr;
  state.push_back(out.shared);
  const Pooling picked(candidates.group, b * conflicts_ * 2);
  out.conflict = torch::cat({torch::cat(state, 1).repeat_interleave(conflicts_, 0),
                             picked.mean(join(of_picked, rows.size(0))).view({b * conflicts_, -1}),
                             picked.counts.view({b * conflicts_, 2}) / kMany},
                            1)
                     .view({b, conflicts_, widths_.conflict});
  return out;
}

Seen part_of(const ObservationBatch& batch, std::int64_t b) {
  const auto first = batch.candidate_ptr[static_cast<std::size_t>(b)];
  const auto end = batch.candidate_ptr[static_cast<std::size_t>(b) + 1];
  return {.own = batch.own.narrow(0, first, end - first),
          .shared = batch.shared.narrow(0, b, 1),
          .conflict = batch.conflict[b]};
}

std::int64_t count_committed(const rollout::Period& period) {
  static const int kCommanded = scene::node_feature_index("commanded");
  static const int kCommitLeft = scene::node_feature_index("commit_left_s");
  const auto columns = scene::node_features().size();
  const rollout::FrameView& frame = period.frames.back();
  constexpr float kOver_s = 1e-5F;
  std::int64_t count = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(frame.num_nodes()); ++i) {
    const float* row = frame.node_features.data() + i * columns;
    if (row[kCommanded] > 0.5F && row[kCommitLeft] > kOver_s) ++count;
  }
  return count;
}

}  // namespace traffic::train
