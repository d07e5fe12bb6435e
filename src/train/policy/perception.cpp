#include "policy/perception.h"

#include <algorithm>
#include <string>

#include "optim/precision.h"
#include "policy/commands.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/model/initialise.h"
#include "traffic/scene/frame.h"
#include "traffic/scene/normaliser.h"

namespace traffic::train {
namespace {

const float* row_of(const torch::Tensor& table, std::int64_t row) {
  return table.const_data_ptr<float>() + row * table.size(1);
}

float* write_row(const torch::Tensor& table, std::int64_t row, float* to) {
  return std::copy_n(row_of(table, row), table.size(1), to);
}

/// Index of each candidate among the connected vehicles.
/// @param connected nodes of the connected vehicles, ascending
/// @param candidates nodes of the candidates
std::vector<std::int64_t> find_among(const std::vector<std::int64_t>& connected,
                                     const std::vector<std::int64_t>& candidates) {
  std::vector<std::int64_t> places;
  for (const std::int64_t node : candidates) {
    const auto at = std::lower_bound(connected.begin(), connected.end(), node);
    TRAFFIC_CHECK(at != connected.end() && *at == node,
                  "candidate at node {} is no connected vehicle", node);
    places.push_back(at - connected.begin());
  }
  return places;
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
    throw ConfigError("vehicles.inputs: the list is empty, expected at least one group of inputs");
  }
}

Perception::Perception(const config::Config& config, std::int64_t conflicts, torch::Device device)
    : groups_(config.vehicles.inputs), conflicts_(conflicts), device_(device) {
  const std::string& precision = config.vehicles.perception_precision;
  check_precision("vehicles.perception_precision", precision, device);
  const auto features = static_cast<std::int64_t>(scene::node_features().size());
  const auto globals = static_cast<std::int64_t>(scene::global_features().size());
  const std::int64_t hidden = config.model.hidden_dim;
  widths_.impact = groups_.latents ? 2 * config.model.latent_dim : 0;
  if (!config.vehicles.advisor.empty()) commands_ = commands_of(config.vehicles);
  widths_.advice = static_cast<std::int64_t>(commands_.size());
  widths_.own = (groups_.features ? features : 0) + (groups_.encoding ? hidden : 0) +
                widths_.advice + widths_.impact;
  widths_.shared = (groups_.globals ? globals : 0) + (groups_.pooled ? hidden : 0);
  const auto road = groups_.features ? static_cast<std::int64_t>(road_columns().size()) : 0;
  const std::int64_t seen =
      road + (groups_.encoding ? hidden : 0) + widths_.advice + widths_.impact;
  widths_.conflict =
      widths_.shared + 2 * (1 + seen) + (groups_.features ? kNumPlaces * (1 + road) : 0);
  const auto seed = static_cast<std::uint64_t>(config.run.seed);
  if (groups_.any_encoding()) {
    encoder_ = model::GraphEncoder(config.model, features);
    model::initialise(*encoder_, derive_seed(seed, {kEncoderStream}));
    encoder_->to(device);
    encoder_->set_compute_type(compute_type(precision));
    encoder_->eval();
  }
  if (groups_.latents) {
    world_model_ = model::WorldModel(config.model, config.data.horizon_frames);
    model::initialise(*world_model_, derive_seed(seed, {kWorldModelStream}));
    world_model_->to(device);
    world_model_->set_compute_type(compute_type(precision));
    world_model_->eval();
    unseen_ = world_model_->zero_state(1);
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

ObservationBatch Perception::observe(std::span<const ObservationInput> inputs) {
  const torch::InferenceMode inference;
  std::vector<const rollout::Period*> periods;
  Known known;
  known.node_ptr.push_back(0);
  for (const ObservationInput& input : inputs) {
    TRAFFIC_CHECK(!input.period->of<rollout::VehicleSection>().frames.empty(),
                  "a period to observe has no frame");
    periods.push_back(input.period);
    known.last.push_back(&input.period->of<rollout::VehicleSection>().frames.back());
    known.node_ptr.push_back(known.node_ptr.back() + known.last.back()->num_nodes());
  }
  known.encoded = encode(inputs);
  known.candidates = find_candidates_of(periods, known.node_ptr, conflicts_);
  if (groups_.any_encoding()) {
    known.candidate = find_among(known.encoded.connected, known.candidates.row);
  }
  if (groups_.latents) {
    const torch::Tensor rows = torch::tensor(known.candidate, torch::kLong).to(device_);
    known.latents =
        world_model_->latents(known.encoded.hidden.index_select(0, rows)).to(torch::kCPU);
  }
  if (!commands_.empty()) {
    for (const rollout::Period* period : periods) find_advised(*period, commands_, known.advised);
  }
  const auto b = static_cast<std::int64_t>(inputs.size());
  const auto m = static_cast<std::int64_t>(known.candidates.row.size());
  ObservationBatch out{.own = torch::empty({m, widths_.own}),
                       .shared = torch::empty({b, widths_.shared}),
                       .conflict = torch::empty({b, conflicts_, widths_.conflict}),
                       .candidate_ptr = known.candidates.ptr};
  write_own(known, out.own);
  write_shared(known, out.shared);
  write_conflicts(known, out);
  return out;
}

void Perception::write_own(const Known& known, const torch::Tensor& own) const {
  auto* to = own.mutable_data_ptr<float>();
  for (std::size_t m = 0; m < known.candidates.row.size(); ++m) {
    const std::int64_t row = known.candidates.row[m];
    if (groups_.features) to = write_row(known.encoded.nodes, row, to);
    if (groups_.encoding) to = write_row(known.encoded.encoding, known.candidate[m], to);
    if (!known.advised.empty()) {
      std::fill_n(to, commands_.size(), 0.0F);
      to[known.advised[m]] = 1.0F;
      to += commands_.size();
    }
    if (groups_.latents) to = write_row(known.latents, static_cast<std::int64_t>(m), to);
  }
}

void Perception::write_shared(const Known& known, const torch::Tensor& shared) const {
  auto* to = shared.mutable_data_ptr<float>();
  for (std::size_t b = 0; b < known.last.size(); ++b) {
    if (groups_.globals) to = scene::global_normaliser().write(known.last[b]->global_features, to);
    if (!groups_.pooled) continue;
    const std::int64_t columns = known.encoded.encoding.size(1);
    std::fill_n(to, columns, 0.0F);
    const std::int64_t first = known.encoded.connected_ptr[b];
    const std::int64_t end = known.encoded.connected_ptr[b + 1];
    for (std::int64_t row = first; row < end; ++row) {
      const float* from = row_of(known.encoded.encoding, row);
      for (std::int64_t c = 0; c < columns; ++c) to[c] += from[c];
    }
    const auto rows = static_cast<float>(std::max<std::int64_t>(1, end - first));
    for (std::int64_t c = 0; c < columns; ++c) to[c] /= rows;
    to += columns;
  }
}

void Perception::write_conflicts(const Known& known, const ObservationBatch& batch) const {
  const std::vector<std::size_t> none;
  const std::vector<std::size_t>& road = groups_.features ? road_columns() : none;
  const auto num_frames = static_cast<std::int64_t>(known.last.size());
  const auto add_road = [&](const float* from, float* to) {
    for (const std::size_t column : road) *to++ += from[column];
    return to;
  };
  GroupMeans places(num_frames * kNumPlaces, road.size());
  for (std::int64_t b = 0; groups_.features && b < num_frames; ++b) {
    const scene::FrameView& frame = *known.last[static_cast<std::size_t>(b)];
    for (std::size_t i = 0; i < frame.vehicle_id.size(); ++i) {
      const std::int64_t row =
          known.node_ptr[static_cast<std::size_t>(b)] + static_cast<std::int64_t>(i);
      add_road(row_of(known.encoded.nodes, row),
               places.add_row(b * kNumPlaces + place_of(frame, i)));
    }
  }
  const std::size_t features = groups_.features ? scene::node_normaliser().columns() : 0;
  const auto own_columns = static_cast<std::size_t>(widths_.own);
  GroupMeans picked(num_frames * conflicts_ * 2, road.size() + own_columns - features);
  for (std::size_t m = 0; m < known.candidates.row.size(); ++m) {
    const float* own = row_of(batch.own, static_cast<std::int64_t>(m));
    float* to = add_road(own, picked.add_row(known.candidates.group[m]));
    for (std::size_t c = features; c < own_columns; ++c) *to++ += own[c];
  }
  auto* to = batch.conflict.mutable_data_ptr<float>();
  for (std::int64_t b = 0; b < num_frames; ++b) {
    for (std::int64_t c = 0; c < conflicts_; ++c) {
      if (groups_.features) to = places.write(b * kNumPlaces, kNumPlaces, to);
      to = write_row(batch.shared, b, to);
      to = picked.write((b * conflicts_ + c) * 2, 2, to);
    }
  }
  TRAFFIC_CHECK(to == batch.conflict.const_data_ptr<float>() + batch.conflict.numel(),
                "the observations of conflicts do not have ControllerInputs::conflict columns");
}

Observation part_of(const ObservationBatch& batch, std::int64_t b) {
  const auto first = batch.candidate_ptr[static_cast<std::size_t>(b)];
  const auto end = batch.candidate_ptr[static_cast<std::size_t>(b) + 1];
  return {.own = batch.own.narrow(0, first, end - first),
          .shared = batch.shared.narrow(0, b, 1),
          .conflict = batch.conflict[b]};
}

}  // namespace traffic::train
