/// The controller: which candidates to pick, what to ask of them, and what a situation is worth.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "traffic/config/config.h"

namespace traffic::model {

/// Where nothing is advised, something else is done this much less often: many are asked there, and
/// again in every period until they do it.
inline constexpr double kUnadvised = 0.2;

/// Widths of what the controller reads.
struct ControllerInputs {
  std::int64_t own = 0;     ///< columns of a candidate
  std::int64_t shared = 0;  ///< columns of its state
  std::int64_t impact = 0;  ///< last columns of `own`, from which the impact is predicted; 0: none
  std::int64_t advice = 0;  ///< columns of `own` before those: 1 in that of the advised command, if
                            ///< as many as there are commands; 0: nothing is advised
  std::int64_t conflict = 0;  ///< columns of a conflict, for the value
};

/// M candidates in S states.
struct CandidateBatch {
  torch::Tensor own;     ///< [M, own]
  torch::Tensor shared;  ///< [S, shared]
  torch::Tensor state;   ///< [M] int64: the state of each candidate
};

struct ControllerOutput {
  torch::Tensor longitudinal;  ///< [M, commands] logits, or [M, 1] mean of the raw sample
  torch::Tensor log_std;       ///< [1] of the raw sample; undefined with categorical commands
  torch::Tensor lane;          ///< [M, 3] logits of right, keep, left; undefined: no lane changes
  torch::Tensor score;         ///< [M] influence score, by which candidates are picked
};

/// A perceptron for each candidate, with one head for the commands, one for lane changes and one
/// for the score; one of its own for the value of a conflict.
///
/// score = importance_weight * importance + impact_weight * predicted impact. Importance is the
/// log-odds of being commanded (so that those are picked who are to be asked for something) plus
/// what a head adds; the impact is a linear function of the world model's latents.
class ControllerImpl : public torch::nn::Module {
 public:
  ControllerImpl(const config::Vehicles& vehicles, const ControllerInputs& inputs);

  /// First parameters, from the seed alone. The heads start small, so that an untrained controller
  /// commands with vehicles.first_command_probability whatever it sees, or does what is advised
  /// with vehicles.advice_probability. Not part of the constructor, which has no owner yet.
  void reset(std::uint64_t seed);

  ControllerOutput forward(const CandidateBatch& candidates);

  /// Columns of candidates' own numbers: 1 in that of the command that is advised.
  /// @param own [M, own]
  /// @return [M, advice]
  [[nodiscard]] torch::Tensor advised(const torch::Tensor& own) const {
    return own.narrow(1, inputs_.own - inputs_.impact - inputs_.advice, inputs_.advice);
  }

  /// @param conflicts [N, conflict]
  /// @return [N] in standardised units
  torch::Tensor value(const torch::Tensor& conflicts);

 private:
  /// @param x [M, width] of the trunk
  /// @param latents [M, impact]; undefined: none
  /// @param advised [M, advice]; undefined: nothing is
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
  torch::nn::Linear advice_{nullptr};  ///< to the logits of the commands
  torch::Tensor log_std_;
  torch::nn::Linear lane_{nullptr};
  torch::nn::Linear importance_{nullptr};
  torch::nn::Linear impact_{nullptr};
  std::vector<torch::nn::Linear> value_hidden_;
  torch::nn::Linear value_{nullptr};
};
TORCH_MODULE(Controller);

}  // namespace traffic::model
