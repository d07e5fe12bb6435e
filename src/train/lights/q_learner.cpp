#include "lights/q_learner.h"

#include "run/together.h"
#include "traffic/rl/q_learning.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train::lights {
namespace {

/// Lower bound of the standard deviation of a light's returns (kLevel), in seconds of lost time.
/// Smaller deviations are noise.
constexpr double kLeastLevel_s = 5.0;

}  // namespace

QUpdate::QUpdate(const offpolicy::OffPolicy& settings, LightPolicy& online, LightPolicy& target,
                 const RowLayout& layout, comm::Communicator& communicator)
    : offpolicy::Learner(settings,
                         {{.name = "lights",
                           .online = online.network().ptr(),
                           .target = target.network().ptr(),
                           .learning_rate_key = "offpolicy.learning_rate"}},
                         communicator),
      online_(online),
      target_(target),
      layout_(layout) {}

/// The target network's value of the green that the policy would choose in the next state.
torch::Tensor QUpdate::next_values(const torch::Tensor& next_obs) {
  const torch::NoGradGuard no_grad;
  const LightBatch batch = take_apart(layout_, next_obs);
  const torch::Tensor chosen = batch.lights.argmax(online_.forward(batch).logits);
  const model::SignalOutput out = target_.forward(batch);
  return rl::segment_q(out.values, out.logits, batch.lights, chosen);
}

offpolicy::Figures QUpdate::update(const offpolicy::Batch& batch,
                                   const offpolicy::UpdateContext& context) {
  const torch::Tensor targets =
      rl::n_step_targets({.returns = batch.action_vectors.select(1, kReturn),
                          .discounts = batch.action_vectors.select(1, kDiscount)},
                         next_values(batch.next_obs));
  const LightBatch seen = take_apart(layout_, batch.obs);
  const model::SignalOutput out = online_.forward(seen);
  const torch::Tensor values =
      rl::segment_q(out.values, out.logits, seen.lights, seen.lights.starts() + batch.actions);
  const torch::Tensor unit = batch.action_vectors.select(1, kLevel).sqrt();
  return learn_values(values / unit, targets / unit, context);
}

QLearner::QLearner(const config::Config& config, LightPolicy& policy,
                   comm::Communicator& communicator, TimeSplit& time_split)
    : settings_(config.extension<offpolicy::OffPolicy>()),
      iterations_(config.training.iterations),
      reward_scale_(config.lights.reward_scale),
      policy_(policy),
      communicator_(communicator),
      target_(policy.kind(), 0),
      layout_{.features = static_cast<std::int64_t>(scene::signal_features().size()),
              .max_greens = config.lights.max_greens},
      update_(settings_, policy_, target_, layout_, communicator),
      mean_(parameters()),
      replay_({.learning = settings_,
               .seed = static_cast<std::uint64_t>(config.run.seed),
               .communicator = communicator},
              {.count = 1, .obs_dim = layout_.width(), .action_dim = kNumReturnColumns}),
      updates_({.settings = settings_,
                .communicator = communicator,
                .time_split = time_split,
                .learner = update_,
                .replay = replay_}) {}

void QLearner::begin_iteration(std::int64_t decisions) {
  epsilon_ = offpolicy::epsilon_after(settings_, decisions);
  policy_.explore(epsilon_);
}

std::optional<Learned> QLearner::learn(const std::vector<EpisodeHistory>& episodes,
                                       std::int64_t /*num_episodes*/, std::int64_t iteration) {
  std::int64_t own_decisions = 0;
  together(communicator_, [&] {
    for_each_decision(layout_, episodes,
                      {.n_step = settings_.n_step,
                       .gamma = settings_.gamma,
                       .least_level = kLeastLevel_s * reward_scale_},
                      [&](const replay::Step& step) {
                        replay_.push(step);
                        ++own_decisions;
                      });
  });
  const auto decisions = static_cast<std::int64_t>(
      communicator_.all_reduce_scalar(static_cast<double>(own_decisions)));
  const double progress = static_cast<double>(iteration + 1) / static_cast<double>(iterations_);
  updates_.after(
      {.env_steps = decisions, .transitions = replay_.least_transitions(), .progress = progress});
  mean_.add(iteration);
  report::NamedValues metrics{
      {"train/decisions", static_cast<double>(decisions)},
      {"train/epsilon", epsilon_},
      {"train/learning_rate", updates_.learning_rate(progress)},
      {"train/updates", static_cast<double>(updates_.count())},
      {"replay/transitions", static_cast<double>(replay_.all_transitions())}};
  for (auto& metric : updates_.take_figures()) metrics.push_back(std::move(metric));
  const auto loss = offpolicy::watched_loss(metrics);
  return Learned{.decisions = decisions, .metrics = std::move(metrics), .loss = loss};
}

void QLearner::start_from(const checkpoint::Snapshot& snapshot) {
  mean_.start_from(snapshot);
  update_.networks().update_targets(1.0);
}

void QLearner::restore_from(const checkpoint::Snapshot& snapshot) {
  update_.networks().restore_learning_from(snapshot);
  mean_.restore_from(snapshot);
  together(communicator_, [&] { replay_.restore_from(snapshot); });
  updates_.restore_from(snapshot);
}

void QLearner::save_to(checkpoint::Snapshot& snapshot) const {
  update_.networks().save_learning_to(snapshot);
  mean_.save_to(snapshot);
  replay_.save_to(snapshot, {});
  updates_.save_to(snapshot);
}

}  // namespace traffic::train::lights
