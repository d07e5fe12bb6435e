/// The policy of vehicles. It picks candidates (vehicles that may get a command) and chooses their
/// commands, by interpreting the outputs of the controller network as probability distributions.
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

/// Candidates of B states, on the controller's device.
struct PolicyInput {
  torch::Tensor own;      ///< [M, own]
  torch::Tensor shared;   ///< [B, shared]
  rl::Segments segments;  ///< candidates of each state
};

/// Terms of the PPO loss for D decisions in B states.
struct PolicyTermsOf {
  torch::Tensor log_prob;            ///< [D] log-probability of the command and the lane change
  torch::Tensor entropy;             ///< [D] entropy of command and lane change
  torch::Tensor selection_log_prob;  ///< [B] log-probability of the picks
  torch::Tensor selection_entropy;   ///< [B] entropy of the first pick
};

/// Random numbers in [0, 1) for the candidates of all states, on the CPU. If they are not set,
/// decisions are greedy.
using MaybeUniforms = std::optional<torch::Tensor>;  ///< [M, uniform_columns()]

/// The policy with its controller network.
class Policy {
 public:
  Policy(const config::Config& config, const model::ControllerInputs& widths, torch::Device device);

  [[nodiscard]] model::Controller& controller() { return controller_; }
  /// The parameters, named "controller.<name>" as in checkpoints.
  [[nodiscard]] comm::NamedTensors parameters() const;
  /// Maximum number of vehicles of a simulation under control at the same time.
  [[nodiscard]] std::int64_t top_k() const { return config_.vehicles.top_k; }
  [[nodiscard]] torch::Device device() const { return device_; }
  /// The commands that categorical actions stand for, "none" first. Empty if actions are
  /// continuous.
  [[nodiscard]] std::span<const scene::CommandKind> commands() const { return commands_; }

  /// Number of random numbers that decide() needs for each candidate.
  [[nodiscard]] std::int64_t uniform_columns() const;

  /// Sets how decide() uses random numbers. If no share is set (the initial setting), it samples
  /// picks and commands from their probabilities. If a share is set, this share of the candidates,
  /// chosen at random, explore, and the policy decides greedily for the others. A candidate that
  /// explores gets its command as follows:
  ///
  /// - If there is an advisor, the candidate gets the advised command with probability
  ///   vehicles.advice_probability. If the advice is "none", the probability of deviating from it
  ///   is multiplied by model::kUnadvised.
  ///
  /// - If there is no advisor, or the candidate deviates from the advice, it gets a random command
  ///   with probability vehicles.first_command_probability, and otherwise "none".
  ///
  /// A share may be set only for categorical actions without a lane head (vehicles.lane_change is
  /// off).
  void explore(std::optional<double> share) { exploring_ = share; }

  /// Sets the advice margin: another command is chosen only if its value exceeds that of the
  /// advised command by this much. It is meant for policies whose logits are values (Q-learning).
  /// Such values are noisy estimates, and the maximum of several estimates is likely too high.
  void lean_on_advice(double margin) { advice_margin_ = margin; }
  /// Adds the advice margin to the values of the advised commands.
  /// @param worth [M, commands] values of all commands, without the margin
  /// @param own [M, own] inputs of the same candidates, which contain the advice
  /// @return [M, commands]
  [[nodiscard]] torch::Tensor leaning(const torch::Tensor& worth, const torch::Tensor& own) const;

  /// Picks candidates and chooses their commands, greedily or with the random numbers.
  /// @param may_pick [B] int64 on the CPU: maximum number of picks in each state
  /// @return tensors on the CPU
  Decisions decide(const PolicyInput& in, const torch::Tensor& may_pick,
                   const MaybeUniforms& uniforms);
  /// Evaluates given decisions; differentiable with respect to the parameters.
  PolicyTermsOf evaluate_actions(const PolicyInput& in, const Decisions& decisions);
  /// Index of the most probable command of some candidates. Only for categorical actions.
  /// @param rows [D] int64: rows of `in.own`
  /// @return [D] int64 on the CPU
  torch::Tensor greedy_actions(const PolicyInput& in, const torch::Tensor& rows);
  /// The value network.
  /// @param conflicts [N, conflict] inputs of N conflicts
  /// @return [N] values in standardised units
  torch::Tensor value(const torch::Tensor& conflicts) { return controller_->value(conflicts); }

  /// The command for a picked candidate; nothing if it gets no command.
  /// @param action index of the command, or sample of a continuous command
  /// @param lane column of the lane head; used only if vehicles.lane_change is set
  [[nodiscard]] std::optional<scene::Command> command(const scene::FrameView& frame,
                                                      const scene::Candidate& candidate,
                                                      float action, std::int64_t lane) const;

 private:
  [[nodiscard]] rl::BoundedGaussian gaussian(const model::ControllerOutput& out,
                                             const torch::Tensor& rows) const;
  [[nodiscard]] bool categorical() const { return !commands_.empty(); }
  Decisions decide_exploring(const model::ControllerOutput& out, const PolicyInput& in,
                             const torch::Tensor& may_pick, const torch::Tensor& uniforms) const;
  /// Draws the command of an exploring candidate.
  /// @param own [own] features of the candidate
  /// @param u [uniform_columns()] its random numbers
  [[nodiscard]] std::int64_t explored(const float* own, const float* u) const;

  config::Config config_;
  model::ControllerInputs widths_;
  torch::Device device_;
  model::Controller controller_;
  std::vector<scene::CommandKind> commands_;  ///< empty if actions are continuous
  rl::ActionBounds bounds_;
  std::optional<double> exploring_{};  ///< share of candidates that explore
  double advice_margin_ = 0.0;
};

}  // namespace traffic::train
