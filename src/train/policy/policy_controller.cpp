#include "policy/policy_controller.h"

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/decider.h"
#include "policy/decision_watch.h"
#include "policy/fit.h"
#include "policy/light_controller.h"
#include "policy/light_policy.h"
#include "policy/perception.h"
#include "policy/policy.h"
#include "run/snapshot_parts.h"
#include "traffic/checkpoint/file.h"
#include "traffic/config/load.h"
#include "traffic/core/error.h"
#include "traffic/scene/advisor.h"
#include "traffic/scene/control_period.h"
#include "traffic/scene/frame_builder.h"
#include "traffic/scene/joint_controller.h"
#include "traffic/sim/env_options.h"

namespace traffic::train {
namespace {

/// Commands the vehicles of one simulation with the trained policy of a checkpoint.
class PolicyController final : public scene::Controller {
 public:
  PolicyController(const checkpoint::Snapshot& snapshot, std::optional<Decides> decides,
                   DecisionWatch* watch)
      : watch_(watch),
        config_(stored_config(snapshot)),
        decides_(decides.value_or(decides_in(snapshot))),
        perception_(config_, 1, torch::kCPU),
        policy_(config_, perception_.widths(), torch::kCPU),
        advisor_(sim::make_advisor(config_)) {
    if (!snapshot.contains("policy_hash")) {
      throw CheckpointError(
          "checkpoint {}: it holds no controller; expected a checkpoint of the training ppo, "
          "ppo_constrained or dqn",
          snapshot.source());
    }
    load_perception(snapshot, config_, perception_);
    perception_.freeze();
    copy_parameters(snapshot, policy_.parameters());
    policy_.lean_on_advice(advice_margin_in(snapshot));
  }

  void reset(std::uint64_t seed) override {
    memory_ = {};
    frames_.clear();
    step_.reset();
    decision_seed_ = decision_seed(seed);
    decisions_ = 0;
  }

  void decide(const scene::RoadState& state, std::vector<scene::Command>& commands) override {
    if (!step_) {
      // The state after a reset counts as the end of a period, so a decision is due.
      control_period_ = {config_.env.control_period_s, state.step_length_s()};
      step_ = control_period_.steps();
    } else {
      ++*step_;
    }
    if (control_period_.frame_due(*step_)) frames_.push_back(builder_.build(state));
    if (*step_ < control_period_.steps()) {
      if (advisor_ != nullptr) append(advisor_->go_on(state), commands);
      return;
    }
    step_ = 0;
    const rollout::Period period = period_of(state);
    const ObservationInput input{.period = &period, .memory = &memory_};
    const Observation seen = decider_.observe(std::span(&input, 1)).front();
    const DecisionInput asked{.period = &period, .seen = &seen};
    const DecidedState decided = decider_.decide(std::span(&asked, 1), draws()).front();
    ++decisions_;
    if (watch_ != nullptr) {
      watch_->on_vehicles(
          {.decider = decider_, .period = period, .seen = seen, .decided = decided});
    }
    decided_.clear();
    for (const auto& command : decided.commands) {
      if (command) decided_.push_back(*command);
    }
    if (advisor_ != nullptr) advisor_->heed(decided_);
    append(decided_, commands);
    frames_.clear();
  }

  [[nodiscard]] std::string_view name() const override { return "checkpoint"; }
  /// Returns 0, so that decide() is called after every simulation step: the policy also needs
  /// frames from within a control period. decide() itself finds the ends of the control periods.
  [[nodiscard]] double period_s() const override { return 0.0; }

 private:
  static void append(std::span<const scene::Command> more, std::vector<scene::Command>& commands) {
    commands.insert(commands.end(), more.begin(), more.end());
  }
  [[nodiscard]] rollout::Period period_of(const scene::RoadState& state) {
    scene::find_candidates(state, sim::candidate_rule(config_), candidates_);
    rollout::Period period;
    period.time_s = state.time_s();
    period.sections.get<rollout::VehicleSection>().candidates = candidates_;
    if (advisor_ != nullptr)
      period.sections.get<rollout::VehicleSection>().advice = advisor_->advise(state);
    for (const scene::GraphFrame& frame : frames_)
      period.sections.get<rollout::VehicleSection>().frames.push_back(frame.view());
    return period;
  }

  /// Supplies the random numbers of the present decision; empty if decisions are greedy.
  [[nodiscard]] Decider::Draw draws() const {
    if (decides_ == Decides::kGreedy) return {};
    return [this](std::size_t /*state*/, std::span<float> uniforms) {
      draw_uniforms(decision_seed_, decisions_, uniforms);
    };
  }

  DecisionWatch* watch_;  ///< null: nobody watches
  config::Config config_;
  Decides decides_;
  Perception perception_;
  Policy policy_;
  Decider decider_{perception_, policy_};
  std::unique_ptr<scene::Advisor> advisor_;  ///< null if there is no advisor
  std::uint64_t decision_seed_ = 0;
  std::int64_t decisions_ = 0;  ///< number of decisions so far in this episode
  scene::FrameBuilder builder_;
  RecurrentState memory_;
  std::vector<scene::GraphFrame> frames_;  ///< frames since the last decision
  std::vector<scene::Candidate> candidates_;
  std::vector<scene::Command> decided_;
  scene::ControlPeriod control_period_;  ///< length of a control period in this episode
  /// Index of the step in the control period; not set after a reset.
  std::optional<std::int64_t> step_;
};

}  // namespace

CheckpointSettings settings_of_checkpoint(const std::filesystem::path& path,
                                          const config::Overrides& overrides) {
  const checkpoint::Snapshot snapshot = checkpoint::load(path);
  return {.config = stored_config(snapshot, overrides), .unknown = unknown_settings(snapshot)};
}

std::unique_ptr<scene::Controller> make_policy_controller(const CheckpointName& name,
                                                          DecisionWatch* watch) {
  const checkpoint::Snapshot snapshot = checkpoint::load(name.path);
  if (!has_light_policy(snapshot))
    return std::make_unique<PolicyController>(snapshot, name.decides, watch);
  if (!snapshot.contains("policy_hash")) {
    return make_light_controller(snapshot, name.decides.value_or(decides_in(snapshot)), watch);
  }
  std::vector<std::unique_ptr<scene::Controller>> parts;
  parts.push_back(std::make_unique<PolicyController>(snapshot, name.decides, watch));
  // The evaluations that chose this checkpoint let the lights decide greedily.
  parts.push_back(make_light_controller(snapshot, Decides::kGreedy, watch));
  return scene::join_controllers(std::move(parts));
}

}  // namespace traffic::train
