/// The network of the policy for connected vehicles. Candidates are the vehicles that may get a
/// command. The network scores them, chooses their commands and estimates the value of a conflict.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::model {

/// If the advice for a candidate is to command nothing, this factor reduces the initial probability
/// that it gets a command all the same. Most candidates have this advice, and the policy decides
/// about each of them again in every control period until it gets a command.
inline constexpr double kUnadvised = 0.2;

/// Numbers of columns of the controller's inputs.
struct ControllerInputs {
  std::int64_t own = 0;     ///< columns of a candidate
  std::int64_t shared = 0;  ///< columns of a state, shared by its candidates
  std::int64_t impact = 0;  ///< columns at the end of `own`, from which the impact of a command is
                            ///< predicted; 0: none
  std::int64_t advice = 0;  ///< columns of `own` before those of `impact`, one for each command; a
                            ///< 1 marks the advised command; 0: no advice
  std::int64_t conflict = 0;  ///< columns of a conflict, the input of the value
};

/// The candidates of S states, M in all. A state is one simulation at one decision.
struct CandidateBatch {
  torch::Tensor own;     ///< [M, own]
  torch::Tensor shared;  ///< [S, shared]
  torch::Tensor state;   ///< [M] int64: the state of each candidate
};

struct ControllerOutput {
  /// [M, commands] logits of categorical commands (with Q-learning: their advantages), or [M, 1]
  /// mean of the Gaussian from whose sample rl::BoundedGaussian computes a continuous command.
  torch::Tensor longitudinal;
  /// [1] logarithm of the deviation of this Gaussian; undefined with categorical commands.
  torch::Tensor log_std;
  torch::Tensor lane;   ///< [M, 3] logits of right, keep, left; undefined without lane changes
  torch::Tensor score;  ///< [M] influence score, which ranks the candidates
};

/// A perceptron that is applied to each candidate, with heads for the commands, the lane changes
/// and the score; and a separate perceptron for the value of a conflict.
///
/// score = importance_weight * importance + impact_weight * predicted impact. With categorical
/// commands the importance is the log-odds that the candidate gets a command, plus the output of a
/// head, so candidates that are likely to be commanded are picked first. The impact is a linear
/// function of the world model's latents.
class ControllerImpl : public torch::nn::Module {
 public:
  ControllerImpl(const config::Vehicles& vehicles, const ControllerInputs& inputs);

  /// Sets the initial parameters, which depend on the seed alone. The heads start small, so that an
  /// untrained controller gives commands with probability vehicles.first_command_probability
  /// whatever its input, or follows advice with probability vehicles.advice_probability. The
  /// constructor cannot do this, because initialise() (traffic/model/initialise.h) needs a module
  /// that a shared_ptr already owns.
  void reset(std::uint64_t seed);

  ControllerOutput forward(const CandidateBatch& candidates);

  /// The columns of the candidates' own features that mark the advised command with a 1.
  /// @param own [M, own]
  /// @return [M, advice]
  [[nodiscard]] torch::Tensor advised(const torch::Tensor& own) const {
    return own.narrow(1, inputs_.own - inputs_.impact - inputs_.advice, inputs_.advice);
  }

  /// @param conflicts [N, conflict]
  /// @return [N] in standardised units (rl/running_mean_std.h)
  torch::Tensor value(const torch::Tensor& conflicts);

 private:
  /// @param x [M, width], output of the trunk
  /// @param latents [M, impact]; undefined: none
  /// @param advised [M, advice]; undefined: there is no advice
  ControllerOutput commands_and_score(const torch::Tensor& x, const torch::Tensor& latents,
                                      const torch::Tensor& advised);
  ControllerOutput mean_and_score(const torch::Tensor& x, const torch::Tensor& latents);

  ControllerInputs inputs_;
  double importance_weight_;
  double impact_weight_;
  double first_command_probability_;
  double advice_probability_;
  bool categorical_;
  torch::nn::Linear own_{nullptr};
  torch::nn::Linear shared_{nullptr};
  std::vector<torch::nn::Linear> hidden_;
  torch::nn::Linear longitudinal_{nullptr};
  torch::nn::Linear advice_{nullptr};  ///< from the advice to the logits of the commands
  torch::Tensor log_std_;
  torch::nn::Linear lane_{nullptr};
  torch::nn::Linear importance_{nullptr};
  torch::nn::Linear impact_{nullptr};
  std::vector<torch::nn::Linear> value_hidden_;
  torch::nn::Linear value_{nullptr};
};
TORCH_MODULE(Controller);

}  // namespace traffic::model
