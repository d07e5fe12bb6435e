#include "policy/policy.h"

#include <algorithm>
#include <cmath>

#include "policy/commands.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/scene/frame.h"

namespace traffic::train {
namespace {

constexpr std::int64_t kLanes = 3;

model::ControllerOutput to_cpu(model::ControllerOutput out) {
  for (torch::Tensor* tensor : {&out.longitudinal, &out.log_std, &out.lane, &out.score}) {
    if (tensor->defined()) *tensor = tensor->to(torch::kCPU);
  }
  return out;
}

/// Keeps the first may_pick picks of each state, and replaces further picks by -1.
/// @return [D] rows of the remaining picks among the candidates of all states
torch::Tensor limit_picks(torch::Tensor& picks, const torch::Tensor& may_pick,
                          const rl::Segments& segments) {
  auto* pick = picks.mutable_data_ptr<std::int64_t>();
  const auto* left = may_pick.const_data_ptr<std::int64_t>();
  const auto* ptr = segments.ptr().const_data_ptr<std::int64_t>();
  std::vector<std::int64_t> rows;
  for (std::int64_t b = 0; b < picks.size(0); ++b) {
    for (std::int64_t k = 0; k < picks.size(1); ++k, ++pick) {
      if (k >= left[b]) *pick = -1;
      if (*pick >= 0) rows.push_back(ptr[b] + *pick);
    }
  }
  return torch::tensor(rows, torch::kLong);
}

}  // namespace

Policy::Policy(const config::Config& config, const model::ControllerInputs& widths,
               torch::Device device)
    : config_(config), widths_(widths), device_(device), controller_(config.vehicles, widths) {
  controller_->reset(derive_seed(static_cast<std::uint64_t>(config.run.seed), {kControllerStream}));
  controller_->to(device);
  const std::string& kind = config.vehicles.longitudinal;
  if (kind == "categorical") {
    commands_ = commands_of(config.vehicles);
  } else if (kind == "acceleration") {
    bounds_ = {.low = config.env.min_accel_mps2, .high = config.env.max_accel_mps2};
  } else {
    bounds_ = {.low = 0.0, .high = 1.0};  // in units of the speed limit
  }
}

comm::NamedTensors Policy::parameters() const {
  comm::NamedTensors all;
  for (const auto& item : controller_->named_parameters()) {
    all.emplace_back("controller." + item.key(), item.value());
  }
  return all;
}

std::int64_t Policy::uniform_columns() const {
  const auto commands = categorical() ? static_cast<std::int64_t>(commands_.size()) : 1;
  return 1 + commands + kLanes;
}

rl::BoundedGaussian Policy::gaussian(const model::ControllerOutput& out,
                                     const torch::Tensor& rows) const {
  return {out.longitudinal.index_select(0, rows), out.log_std, bounds_};
}

Decisions Policy::decide(const PolicyInput& in, const torch::Tensor& may_pick,
                         const MaybeUniforms& uniforms) {
  const torch::InferenceMode inference;
  auto out = to_cpu(
      controller_->forward({.own = in.own, .shared = in.shared, .state = in.segments.index()}));
  out.longitudinal = leaning(out.longitudinal, in.own);
  if (uniforms && exploring_) return decide_exploring(out, in, may_pick, *uniforms);
  const rl::PlackettLuce selection(out.score, in.segments.on(torch::kCPU));
  Decisions made;
  made.picks =
      uniforms ? selection.sample(uniforms->select(1, 0), top_k()) : selection.greedy(top_k());
  made.row = limit_picks(made.picks, may_pick, in.segments);
  torch::Tensor draws;  // random numbers of the picked candidates
  if (uniforms) draws = uniforms->index_select(0, made.row);
  const std::int64_t command_columns = uniform_columns() - 1 - kLanes;
  if (categorical()) {
    const rl::Categorical command(out.longitudinal.index_select(0, made.row));
    made.action =
        (uniforms ? command.sample(draws.narrow(1, 1, command_columns)) : command.greedy())
            .to(torch::kFloat);
  } else {
    const rl::BoundedGaussian command = gaussian(out, made.row);
    made.action = (uniforms ? command.sample(draws.narrow(1, 1, 1).contiguous()) : command.greedy())
                      .squeeze(1);
  }
  made.lane = torch::full_like(made.row, kKeepLane);
  if (out.lane.defined()) {
    const rl::Categorical lane(out.lane.index_select(0, made.row));
    made.lane =
        uniforms ? lane.sample(draws.narrow(1, 1 + command_columns, kLanes)) : lane.greedy();
  }
  return made;
}

torch::Tensor Policy::leaning(const torch::Tensor& worth, const torch::Tensor& own) const {
  if (advice_margin_ <= 0.0) return worth;
  return worth + advice_margin_ * controller_->advised(own).to(worth.device());
}

std::int64_t Policy::explored(const float* own, const float* u) const {
  const float* advice = own + widths_.own - widths_.impact - widths_.advice;
  const auto advised = std::find(advice, advice + widths_.advice, 1.0F) - advice;
  if (advised < widths_.advice) {
    const double other = 1.0 - config_.vehicles.advice_probability;
    const double deviates = advised == kNoCommand ? model::kUnadvised * other : other;
    if (static_cast<double>(u[3]) >= deviates) return advised;
  }
  const auto commands = static_cast<std::int64_t>(commands_.size());
  if (commands < 2 || static_cast<double>(u[1]) >= config_.vehicles.first_command_probability) {
    return kNoCommand;
  }
  const auto which = static_cast<std::int64_t>(u[2] * static_cast<float>(commands - 1));
  return 1 + std::min(which, commands - 2);
}

/// Decides while a share of the candidates explores, see explore(). It picks candidates that
/// explore with a command first, and candidates that explore with "none" last.
Decisions Policy::decide_exploring(const model::ControllerOutput& out, const PolicyInput& in,
                                   const torch::Tensor& may_pick,
                                   const torch::Tensor& uniforms) const {
  constexpr float kFirst = 1e9F;
  torch::Tensor score = out.score.clone();
  torch::Tensor action = rl::Categorical(out.longitudinal).greedy().to(torch::kFloat);
  auto* of_score = score.mutable_data_ptr<float>();
  auto* of_action = action.mutable_data_ptr<float>();
  const torch::Tensor seen = in.own.to(torch::kCPU).contiguous();
  const auto* own = seen.const_data_ptr<float>();
  const auto* u = uniforms.const_data_ptr<float>();
  for (std::int64_t i = 0; i < score.numel(); ++i, u += uniforms.size(1), own += widths_.own) {
    if (static_cast<double>(u[0]) >= *exploring_) continue;
    const std::int64_t command = explored(own, u);
    of_score[i] = command != kNoCommand ? kFirst : -kFirst;
    of_action[i] = static_cast<float>(command);
  }
  Decisions made;
  made.picks = rl::PlackettLuce(score, in.segments.on(torch::kCPU)).greedy(top_k());
  made.row = limit_picks(made.picks, may_pick, in.segments);
  made.action = action.index_select(0, made.row);
  made.lane = torch::full_like(made.row, kKeepLane);
  return made;
}

PolicyTermsOf Policy::evaluate_actions(const PolicyInput& in, const Decisions& decisions) {
  const auto out =
      controller_->forward({.own = in.own, .shared = in.shared, .state = in.segments.index()});
  const rl::PlackettLuce selection(out.score, in.segments);
  PolicyTermsOf terms;
  terms.selection_log_prob = selection.log_prob(decisions.picks);
  terms.selection_entropy = selection.entropy();
  if (categorical()) {
    const auto commands = rl::categorical_terms(
        out.longitudinal, {.row = decisions.row, .action = decisions.action.to(torch::kLong)});
    terms.log_prob = commands.log_prob;
    terms.entropy = commands.entropy;
  } else {
    const rl::BoundedGaussian command = gaussian(out, decisions.row);
    terms.log_prob = command.log_prob(decisions.action.unsqueeze(1));
    terms.entropy = command.entropy();
  }
  if (out.lane.defined()) {
    const auto lanes =
        rl::categorical_terms(out.lane, {.row = decisions.row, .action = decisions.lane});
    terms.log_prob = terms.log_prob + lanes.log_prob;
    terms.entropy = terms.entropy + lanes.entropy;
  }
  return terms;
}

torch::Tensor Policy::greedy_actions(const PolicyInput& in, const torch::Tensor& rows) {
  const torch::NoGradGuard no_grad;
  const auto out =
      controller_->forward({.own = in.own, .shared = in.shared, .state = in.segments.index()});
  return rl::Categorical(out.longitudinal.index_select(0, rows)).greedy().to(torch::kCPU);
}

std::optional<scene::Command> Policy::command(const scene::FrameView& frame,
                                              const scene::Candidate& candidate, float action,
                                              std::int64_t lane) const {
  static const int kLimit = scene::node_feature_index("speed_limit_mps");
  const auto node = static_cast<std::size_t>(candidate.node);
  scene::Command command;
  command.vehicle_id = frame.vehicle_id[node];
  const config::Env& env = config_.env;
  command.hold_s = env.control_period_s;
  if (categorical()) {
    const scene::CommandKind kind = commands_.at(static_cast<std::size_t>(std::lround(action)));
    command.longitudinal = kind.longitudinal;
    command.lane_change = kind.lane_change;
    if (command.longitudinal == scene::Longitudinal::kArriveLate) {
      command.value = env.lead_s;
      if (env.commit_s > 0) command.hold_s = env.commit_s;
    }
  } else {
    const double bounded = bounds_.squash(static_cast<double>(action));
    const bool speed = config_.vehicles.longitudinal == "target_speed";
    command.longitudinal =
        speed ? scene::Longitudinal::kTargetSpeed : scene::Longitudinal::kAcceleration;
    const std::size_t columns = scene::node_features().size();
    command.value = speed ? bounded * frame.node_features[node * columns + kLimit] : bounded;
  }
  if (config_.vehicles.lane_change) command.lane_change = lane_change_of(lane);
  if (command.empty()) return std::nullopt;
  return command;
}

}  // namespace traffic::train
