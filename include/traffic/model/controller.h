/// Controller, the network of the policy for connected vehicles (phases 2 and 3 of training).
/// Candidates are the vehicles that may get a command. The network scores the candidates, computes
/// the probabilities of their commands, and estimates the value of a conflict, a place where
/// streams of traffic meet.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::model {

/// Factor on the initial probability of a command to a candidate whose advice is to command
/// nothing. The factor is small because most candidates have this advice, and the policy decides
/// about each of them again in every control period.
inline constexpr double kUnadvised = 0.2;

/// Numbers of features (columns) in the controller's inputs. A row of CandidateBatch::own contains
/// the advice and the features for the impact in its last columns, in this order, and all other
/// features of the candidate before them.
struct ControllerInputs {
  std::int64_t own = 0;       ///< all features of a candidate
  std::int64_t shared = 0;    ///< features of a state, shared by its candidates
  std::int64_t impact = 0;    ///< features from which the impact of a command is predicted; 0 means
                              ///< that the score has no impact term
  std::int64_t advice = 0;    ///< one feature for each command; a 1 marks the advised command; 0
                              ///< means that there is no advice
  std::int64_t conflict = 0;  ///< features of a conflict, from which its value is estimated
};

/// Input of the network: the M candidates of S states. A state is one simulation at one decision.
struct CandidateBatch {
  torch::Tensor own;     ///< [M, own]
  torch::Tensor shared;  ///< [S, shared]
  torch::Tensor state;   ///< [M] int64: the state of each candidate
};

struct ControllerOutput {
  /// With categorical commands: [M, commands] their logits, or their advantages with Q-learning.
  /// With continuous commands: [M, 1] the mean of a Gaussian (rl::BoundedGaussian).
  torch::Tensor longitudinal;
  /// [1] logarithm of the Gaussian's standard deviation; undefined with categorical commands.
  torch::Tensor log_std;
  torch::Tensor lane;   ///< [M, 3] logits of right, keep, left; undefined without lane changes
  torch::Tensor score;  ///< [M] influence score, which ranks the candidates
};

/// Consists of two perceptrons. One is applied to each candidate and has heads for the commands,
/// the lane changes and the score. The other computes the value of a conflict.
///
/// score = importance_weight * importance + impact_weight * predicted impact. With categorical
/// commands, the importance is the log-odds that the candidate gets a command, plus the output of a
/// head. Candidates that are likely to be commanded are therefore selected first. The impact is a
/// linear function of the world model's latents.
class ControllerImpl : public torch::nn::Module {
 public:
  ControllerImpl(const config::Vehicles& vehicles, const ControllerInputs& inputs);

  /// Sets the initial parameters, which depend on the seed alone. Call it after the constructor.
  ///
  /// The weights of the heads start small. Without advice, an untrained controller therefore gives
  /// a command with probability vehicles.first_command_probability, whatever its input. With
  /// advice, it follows the advice with probability vehicles.advice_probability.
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
  /// @param x [M, width], output of the last hidden layer
  /// @param latents [M, impact]; undefined without an impact term
  /// @param advised [M, advice]; undefined without advice
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
