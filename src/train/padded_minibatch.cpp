#include "padded_minibatch.h"

#include <algorithm>
#include <cstring>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

/// A quarter more than needed, so that minibatches that are a little larger change nothing.
std::int64_t with_room(std::int64_t needed) {
  constexpr std::int64_t kStep = 32;
  return (needed + needed / 4 + kStep) / kStep * kStep;
}

/// One state is always padding, and rows can be named where there are no candidates.
MinibatchSize with_padding(const MinibatchSize& size) {
  return {.states = size.states + 1,
          .candidates = std::max<std::int64_t>(1, size.candidates),
          .decisions = std::max<std::int64_t>(1, size.decisions)};
}

struct Field {
  torch::Tensor MinibatchTensors::*tensor;
  FixedTensors::Spec spec;
};

std::vector<Field> fields_of(const Experience& experience, const MinibatchSize& capacity) {
  using T = MinibatchTensors;
  const std::int64_t B = capacity.states;
  const std::int64_t M = capacity.candidates;
  const std::int64_t D = capacity.decisions;
  const std::int64_t C = experience.conflict.size(1);
  return {
      {&T::own, {{M, experience.own.size(1)}, torch::kFloat}},
      {&T::shared, {{B, experience.shared.size(1)}, torch::kFloat}},
      {&T::candidate_ptr, {{B + 1}, torch::kLong}},
      {&T::candidate_state, {{M}, torch::kLong}},
      {&T::picks, {{B, experience.decisions.picks.size(1)}, torch::kLong}},
      {&T::row, {{D}, torch::kLong}},
      {&T::action, {{D}, torch::kFloat}},
      {&T::lane, {{D}, torch::kLong}},
      {&T::decision_counts, {{D}, torch::kBool}},
      {&T::old_log_prob, {{D}, torch::kFloat}},
      {&T::advantages, {{D}, torch::kFloat}},
      {&T::selection_decides, {{B}, torch::kBool}},
      {&T::old_selection, {{B}, torch::kFloat}},
      {&T::selection, {{B}, torch::kFloat}},
      {&T::conflict, {{B, C, experience.conflict.size(2)}, torch::kFloat}},
      {&T::exists, {{B, C}, torch::kBool}},
      {&T::old_values, {{B, C}, torch::kFloat}},
      {&T::returns, {{B, C}, torch::kFloat}},
      {&T::denominators, {{rl::kNumDenominators}, torch::kFloat}},
  };
}

/// The first rows of `into` become x, the others zeros.
void put(const torch::Tensor& into, const torch::Tensor& x) {
  const torch::Tensor rows = x.contiguous();
  TRAFFIC_CHECK(rows.is_cpu() && rows.scalar_type() == into.scalar_type() &&
                    rows.sizes().slice(1) == into.sizes().slice(1) && rows.size(0) <= into.size(0),
                "a part of a minibatch does not fit: {} into {}", c10::str(rows.sizes()),
                c10::str(into.sizes()));
  auto* bytes = static_cast<std::byte*>(into.mutable_data_ptr());
  if (rows.nbytes() > 0) std::memcpy(bytes, rows.const_data_ptr(), rows.nbytes());
  std::memset(bytes + rows.nbytes(), 0, into.nbytes() - rows.nbytes());
}

/// @return [n] int64 that the caller may write behind the first x of them
std::int64_t* put_numbers(const torch::Tensor& into, const torch::Tensor& x) {
  put(into, x);
  return into.mutable_data_ptr<std::int64_t>();
}

}  // namespace

MinibatchSize largest_of(const Experience& experience, const std::vector<torch::Tensor>& parts) {
  const auto* candidates = experience.candidates.ptr().const_data_ptr<std::int64_t>();
  const auto* decided = experience.decided.ptr().const_data_ptr<std::int64_t>();
  MinibatchSize largest;
  for (const torch::Tensor& states : parts) {
    MinibatchSize size{.states = states.numel()};
    const auto* state = states.const_data_ptr<std::int64_t>();
    for (std::int64_t i = 0; i < states.numel(); ++i) {
      size.candidates += candidates[state[i] + 1] - candidates[state[i]];
      size.decisions += decided[state[i] + 1] - decided[state[i]];
    }
    largest = {.states = std::max(largest.states, size.states),
               .candidates = std::max(largest.candidates, size.candidates),
               .decisions = std::max(largest.decisions, size.decisions)};
  }
  return largest;
}

bool PaddedMinibatch::has_room_for(const MinibatchSize& needed) const {
  return capacity_.holds(with_padding(needed));
}

void PaddedMinibatch::reserve(const Experience& experience, const MinibatchSize& needed) {
  const MinibatchSize padded = with_padding(needed);
  const auto grown = [](std::int64_t now, std::int64_t wanted) {
    return now >= wanted ? now : with_room(wanted);
  };
  capacity_ = {.states = grown(capacity_.states, padded.states),
               .candidates = grown(capacity_.candidates, padded.candidates),
               .decisions = grown(capacity_.decisions, padded.decisions)};
  const std::vector<Field> fields = fields_of(experience, capacity_);
  std::vector<FixedTensors::Spec> specs;
  for (const Field& field : fields) specs.push_back(field.spec);
  buffers_.emplace(specs, device_);
  for (std::size_t i = 0; i < fields.size(); ++i) {
    on_host_.*fields[i].tensor = buffers_->host(i);
    on_device_.*fields[i].tensor = buffers_->device(i);
  }
}

void PaddedMinibatch::put_policy_input(const Minibatch& minibatch) {
  const rl::Segments& candidates = minibatch.input.segments;
  put(on_host_.own, minibatch.input.own);
  put(on_host_.shared, minibatch.input.shared);
  auto* ptr = put_numbers(on_host_.candidate_ptr, candidates.ptr());
  std::fill(ptr + candidates.count(), ptr + capacity_.states, candidates.rows());
  ptr[capacity_.states] = capacity_.candidates;
  auto* state = put_numbers(on_host_.candidate_state, candidates.index());
  std::fill(state + candidates.rows(), state + capacity_.candidates, capacity_.states - 1);

  const Decisions& decisions = minibatch.decisions;
  auto* picks = put_numbers(on_host_.picks, decisions.picks);
  std::fill(picks + decisions.picks.numel(), picks + on_host_.picks.numel(), -1);
  put(on_host_.row, decisions.row);
  put(on_host_.action, decisions.action);
  put(on_host_.lane, decisions.lane);
  put(on_host_.decision_counts, torch::ones({decisions.row.numel()}, torch::kBool));
}

void PaddedMinibatch::fill(const Part& part) {
  const Minibatch minibatch = take(part.experience, part.states, torch::kCPU);
  TRAFFIC_CHECK(minibatch.states.numel() < capacity_.states, "no room for {} states in {}",
                minibatch.states.numel(), capacity_.states);
  put_policy_input(minibatch);
  const LossTerms terms = take_loss_terms(part.experience, part.targets, minibatch, torch::kCPU);
  put(on_host_.old_log_prob, terms.old_log_prob);
  put(on_host_.advantages, terms.advantages);
  put(on_host_.selection_decides, terms.selection_decides);
  put(on_host_.old_selection, terms.old_selection);
  put(on_host_.selection, terms.selection);
  put(on_host_.conflict, terms.conflict);
  put(on_host_.exists, terms.exists);
  put(on_host_.old_values, terms.old_values);
  put(on_host_.returns, terms.returns);
  auto* denominators = on_host_.denominators.mutable_data_ptr<float>();
  denominators[rl::kDecisionDenominator] = static_cast<float>(part.denominators.decisions);
  denominators[rl::kValueDenominator] = static_cast<float>(part.denominators.values);
  buffers_->upload();
}

}  // namespace traffic::train
