#include "signs_agent.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>
#include <vector>

#include "speed_limits.h"
#include "traffic/comm/communicator.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::example {
namespace {

constexpr std::uint64_t kSigns = 0x7369676e;  ///< "sign": stream of random numbers
constexpr const char* kWeights = "model/speed_limits/weights";
constexpr double kDiscount = 0.9;  ///< discount factor from one decision to the next
constexpr auto kNumShares = static_cast<std::int64_t>(kShares.size());
constexpr auto kNumFeatures = static_cast<std::int64_t>(kFeatures);

/// The decisions of all signs in an episode.
struct SignEpisode {
  std::int64_t order = 0;
  std::vector<SignView> views = {};       ///< for each decision, the observations of all signs
  std::vector<std::int64_t> shares = {};  ///< index in kShares of each view
  std::vector<double> rewards = {};       ///< one for each decision, which all signs share
};

/// Weights [shares, features] of the logits. At first a sign shows its edge's own limit in most
/// decisions.
at::Tensor first_weights() {
  constexpr float kOwnLimit = 3.0F;
  at::Tensor weights = at::zeros({kNumShares, kNumFeatures});
  weights.mutable_data_ptr<float>()[kFeatures - 1] = kOwnLimit;
  return weights;
}

class SignsAgent final : public train::Agent, private train::AgentInEpisodes {
 public:
  explicit SignsAgent(const train::AgentContext& context)
      : settings_(context.run.config().extension<SpeedLimits>()),
        communicator_(context.run.communicator().host()) {}

  [[nodiscard]] train::AgentInEpisodes* in_episodes() override { return this; }
  void begin_iteration(const train::Progress& /*progress*/) override { kept_.clear(); }
  std::optional<train::Learned> learn(const train::RolloutBatch& batch,
                                      const train::Progress& progress) override;
  void set_step_factor(double factor) override { step_factor_ = factor; }

  std::string start_from(const checkpoint::Snapshot& snapshot) override {
    if (!snapshot.contains(kWeights)) return {};
    take_best(snapshot);
    return "speed limit signs";
  }
  void restore_from(const checkpoint::Snapshot& snapshot) override { take_best(snapshot); }
  void take_best(const checkpoint::Snapshot& snapshot) override {
    snapshot.copy_tensor(kWeights, weights_);
  }
  void save_to(checkpoint::Snapshot& snapshot) const override {
    snapshot.put_tensor(kWeights, weights_);
  }
  void save_learner(checkpoint::Snapshot& snapshot) const override { save_to(snapshot); }
  void restore_learner(const checkpoint::Snapshot& snapshot) override { take_best(snapshot); }
  [[nodiscard]] const comm::ParameterArena& parameters() const override { return parameters_; }
  [[nodiscard]] bool prefers_one_thread() const override { return true; }
  [[nodiscard]] std::int64_t skipped_steps() const override { return 0; }

 private:
  struct Running {
    SignEpisode episode;
    std::optional<std::uint64_t> sampling_seed;
  };

  void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) override;
  void take_in(int env, const rollout::Period& period) override;
  void decide(int env, const rollout::Period& period, rollout::Orders& orders) override;
  void end(int env) override;

  [[nodiscard]] at::Tensor probabilities(std::span<const SignView> views) const;
  [[nodiscard]] at::Tensor gradient_of(const SignEpisode& episode,
                                       const at::Tensor& advantages) const;
  [[nodiscard]] at::Tensor returns_of(std::int64_t episodes, std::int64_t decisions) const;

  SpeedLimits settings_;
  comm::Communicator& communicator_;
  at::Tensor weights_ = first_weights();
  comm::ParameterArena parameters_{{{"weights", weights_}}};
  double step_factor_ = 1.0;
  std::map<int, Running> running_;
  std::vector<SignEpisode> kept_;  ///< episodes of this iteration
  std::vector<ShowLimit> commands_;
};

void SignsAgent::begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) {
  if (sampling_seed) sampling_seed = derive_seed(*sampling_seed, {kSigns});
  running_[env] = {.episode = {.order = order}, .sampling_seed = sampling_seed};
}

void SignsAgent::take_in(int env, const rollout::Period& period) {
  SignEpisode& episode = running_.at(env).episode;
  if (episode.rewards.empty()) return;
  episode.rewards.back() += std::accumulate(period.growth.begin(), period.growth.end(), 0.0);
}

/// Draws a limit for each sign, or takes the most probable one in evaluations.
void SignsAgent::decide(int env, const rollout::Period& period, rollout::Orders& orders) {
  commands_.clear();
  const std::span<const SignView> views = period.of<SignSection>().signs;
  if (!views.empty()) {
    auto& [episode, sampling_seed] = running_.at(env);
    const at::Tensor probability = probabilities(views).contiguous();
    const auto* row = probability.const_data_ptr<float>();
    for (std::size_t sign = 0; sign < views.size(); ++sign, row += kNumShares) {
      std::int64_t share = std::max_element(row, row + kNumShares) - row;
      if (sampling_seed) {
        double left = Rng(derive_seed(*sampling_seed, {episode.rewards.size(), sign})).uniform();
        for (share = 0; share + 1 < kNumShares && left >= row[share]; ++share) left -= row[share];
        episode.views.push_back(views[sign]);
        episode.shares.push_back(share);
      }
      commands_.push_back({static_cast<std::int32_t>(sign), static_cast<std::int32_t>(share)});
    }
    if (sampling_seed) episode.rewards.push_back(0.0);
  }
  orders.add(kSpeedLimits, std::span<const ShowLimit>(commands_));
}

void SignsAgent::end(int env) {
  SignEpisode episode = std::move(running_.at(env).episode);
  if (!episode.rewards.empty()) kept_.push_back(std::move(episode));
}

/// Probabilities of the limits that each sign can show. @return [signs, shares]
at::Tensor SignsAgent::probabilities(std::span<const SignView> views) const {
  const at::Tensor seen = at::zeros({static_cast<std::int64_t>(views.size()), kNumFeatures});
  std::copy_n(views.front().data(), views.size() * kFeatures, seen.mutable_data_ptr<float>());
  return at::softmax(at::matmul(seen, weights_.t()), 1);
}

/// Discounted returns of the decisions of all ranks.
/// @return [episodes, decisions]
at::Tensor SignsAgent::returns_of(std::int64_t episodes, std::int64_t decisions) const {
  const at::Tensor returns = at::zeros({episodes, decisions}, at::kDouble);
  for (const SignEpisode& episode : kept_) {
    double sum = 0.0;
    for (std::size_t d = episode.rewards.size(); d-- > 0;) {
      sum = episode.rewards[d] + kDiscount * sum;
      returns[episode.order][static_cast<std::int64_t>(d)] = sum;
    }
  }
  communicator_.all_reduce(returns);
  return returns;
}

/// Sum over the decisions of an episode: advantage times gradient of the log-probability.
/// @param advantages [decisions] double
at::Tensor SignsAgent::gradient_of(const SignEpisode& episode, const at::Tensor& advantages) const {
  at::Tensor push = -probabilities(episode.views);
  const std::size_t signs = episode.views.size() / episode.rewards.size();
  for (std::size_t i = 0; i < episode.shares.size(); ++i) {
    const auto row = static_cast<std::int64_t>(i);
    push[row][episode.shares[i]] += 1.0;
    push[row] *= advantages[static_cast<std::int64_t>(i / signs)].item<double>();
  }
  const at::Tensor seen = at::zeros({push.size(0), kNumFeatures});
  std::copy_n(episode.views.front().data(), episode.views.size() * kFeatures,
              seen.mutable_data_ptr<float>());
  return at::matmul(push.t(), seen);
}

std::optional<train::Learned> SignsAgent::learn(const train::RolloutBatch& batch,
                                                const train::Progress& /*progress*/) {
  std::int64_t most = 0;
  for (const SignEpisode& episode : kept_) most = std::max(most, std::ssize(episode.rewards));
  most = std::llround(
      communicator_.all_reduce_scalar(static_cast<double>(most), comm::ReduceOp::kMax));
  const at::Tensor returns = returns_of(batch.episodes, most);
  // The decisions of all episodes come at the same times. The baseline of a decision is therefore
  // the mean return over all episodes.
  at::Tensor advantages = returns - returns.mean({0}, /*keepdim=*/true);
  advantages /= advantages.square().mean().sqrt().clamp_min(1e-9);
  const at::Tensor gradients = at::zeros({batch.episodes, kNumShares, kNumFeatures});
  for (const SignEpisode& episode : kept_) {
    gradients[episode.order] = gradient_of(episode, advantages[episode.order]);
  }
  communicator_.all_reduce(gradients);
  const double decisions = static_cast<double>(batch.episodes * most);
  const double rate = step_factor_ * settings_.learning_rate;
  weights_ += gradients.sum(0) * (rate / decisions);
  return train::Learned{.metrics = {{"speed_limits/decisions", decisions},
                                    {"speed_limits/mean_return", returns.mean().item<double>()},
                                    {"speed_limits/learning_rate", rate}}};
}

void read_signs(rollout::ByteReader& section, rollout::Period& period) {
  const auto count = section.take_one<std::uint64_t>("the number of signs");
  SignSection& signs = period.sections.get<SignSection>();
  signs.signs = section.take<SignView>(count, "signs");
  for (const SignView& view : signs.signs) {
    rollout::require_plausible(std::span<const float>(view), "signs");
  }
}

void check(const config::Config& config, train::Algorithm algorithm) {
  if (algorithm != train::Algorithm::kPpo) {
    throw ConfigError(
        "env.agents contains speed_limits, which learn by policy gradient; expected run.phase = "
        "\"ppo\"");
  }
  if (config.episodes.rollout_fragment_length > 0) {
    throw ConfigError(
        "episodes.rollout_fragment_length is {}: speed limit signs learn from whole episodes; "
        "expected 0",
        config.episodes.rollout_fragment_length);
  }
  if (config.env.objective != "ocr") {
    throw ConfigError(
        "env.objective is {}: SUMO counts delays against the limit that a sign shows; expected ocr",
        config.env.objective);
  }
}

}  // namespace

train::AgentRow speed_limits_agent() {
  constexpr std::size_t kMostSigns = 1000;
  return {.format = {.agent = kSpeedLimits,
                     .order_bytes = [](const auto&) { return kMostSigns * sizeof(ShowLimit); },
                     .answer_bytes = [](const auto&) { return kMostSigns * sizeof(SignView) + 8; },
                     .read = read_signs,
                     .program = "speed_limits_env",
                     .own_sections = speed_limits_sections()},
          .check = check,
          .make = [](const train::AgentContext& context, train::Algorithm)
              -> std::unique_ptr<train::Agent> { return std::make_unique<SignsAgent>(context); }};
}

}  // namespace traffic::example
