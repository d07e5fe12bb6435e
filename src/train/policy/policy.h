/// The learning part of phase 2: what the controller's outputs mean as distributions and commands.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "policy/decisions.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"
#include "traffic/core/random.h"
#include "traffic/model/controller.h"
#include "traffic/rl/distributions.h"
#include "traffic/rl/plackett_luce.h"
#include "traffic/rollout/traffic/period.h"
#include "traffic/scene/action.h"

namespace traffic::train {

/// Candidates of B states as the controller reads them, on its device.
struct PolicyInput {
  torch::Tensor own;      ///< [M, own]
  torch::Tensor shared;   ///< [B, shared]
  rl::Segments segments;  ///< candidates of each state
};

struct PolicyTermsOf {
  torch::Tensor log_prob;            ///< [D]
  torch::Tensor entropy;             ///< [D]
  torch::Tensor selection_log_prob;  ///< [B]
  torch::Tensor selection_entropy;   ///< [B]
};

/// Random numbers for a state's candidates, on the CPU; nothing: decide greedily.
using MaybeUniforms = std::optional<torch::Tensor>;  ///< [M, uniform_columns()]

class Policy {
 public:
  Policy(const config::Config& config, const model::ControllerInputs& widths, torch::Device device);

  [[nodiscard]] model::Controller& controller() { return controller_; }
  /// "controller.<name>", for arenas and checkpoints.
  [[nodiscard]] comm::NamedTensors parameters() const;
  [[nodiscard]] std::int64_t top_k() const { return config_.vehicles.top_k; }
  [[nodiscard]] torch::Device device() const { return device_; }
  /// Of the categorical actions, "none" first; empty where actions are continuous.
  [[nodiscard]] std::span<const scene::CommandKind> commands() const { return commands_; }

  [[nodiscard]] std::int64_t uniform_columns() const;

  /// How decisions with random numbers are made from now on: the greedy ones, but for this share of
  /// the candidates. Each of those gets what is advised with vehicles.advice_probability, and
  /// otherwise, or where there is no advisor, "none", or with the probability
  /// vehicles.first_command_probability a random command. Nothing, as at first: by their
  /// probabilities. Of categorical actions without lane changes.
  void explore(std::optional<double> share) { exploring_ = share; }

  /// What any other command has to be worth more than the advised one before it is asked for. Of
  /// policies by values, whose logits are what commands are worth: each is only as good an estimate
  /// as what was tried allows, and the highest of several is likely too high.
  void lean_on_advice(double margin) { advice_margin_ = margin; }
  /// What commands are taken to be worth then, that is chosen by: [M, commands].
  /// @param worth [M, commands], @param own [M, own] of the same candidates
  [[nodiscard]] torch::Tensor leaning(const torch::Tensor& worth, const torch::Tensor& own) const;

  /// @param may_pick [B] int64 on the CPU: picks that are left in each state
  /// @return on the CPU
  Decisions decide(const PolicyInput& in, const torch::Tensor& may_pick,
                   const MaybeUniforms& uniforms);
  /// Differentiable in the parameters.
  PolicyTermsOf evaluate_actions(const PolicyInput& in, const Decisions& decisions);
  /// The most probable command of candidates, where actions are categorical: [D] int64 on the CPU.
  torch::Tensor greedy_actions(const PolicyInput& in, const torch::Tensor& rows);
  /// [N] standardised values of conflicts [N, conflict].
  torch::Tensor value(const torch::Tensor& conflicts) { return controller_->value(conflicts); }

  /// The command for a picked candidate; nothing when it is to drive on its own model.
  [[nodiscard]] std::optional<scene::Command> command(const scene::FrameView& frame,
                                                      const scene::Candidate& candidate,
                                                      float action, std::int64_t lane) const;

 private:
  [[nodiscard]] rl::BoundedGaussian gaussian(const model::ControllerOutput& out,
                                             const torch::Tensor& rows) const;
  [[nodiscard]] bool categorical() const { return !commands_.empty(); }
  Decisions decide_exploring(const model::ControllerOutput& out, const PolicyInput& in,
                             const torch::Tensor& may_pick, const torch::Tensor& uniforms) const;
  /// The command of an exploring candidate. @param own its columns @param u [uniform_columns()]
  [[nodiscard]] std::int64_t explored(const float* own, const float* u) const;

  config::Config config_;
  model::ControllerInputs widths_;
  torch::Device device_;
  model::Controller controller_;
  std::vector<scene::CommandKind> commands_;  ///< empty: continuous
  rl::ActionBounds bounds_;
  std::optional<double> exploring_{};
  double advice_margin_ = 0.0;
};

}  // namespace traffic::train
