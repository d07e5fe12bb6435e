#include "agents/lights.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "lights/light_histories.h"
#include "lights/ppo_learner.h"
#include "lights/q_learner.h"
#include "policy/light_policy.h"
#include "traffic/config/controller_spec.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace {

constexpr const char* kLearner = "lights/learner";
constexpr const char* kDecisions = "lights/decisions";

LightKind kind_of(const config::Lights& settings) {
  return {.hidden_dim = settings.hidden_dim,
          .encoder_layers = settings.encoder_layers,
          .keeps_programs = config::keeps_programs(settings.advisor)};
}

/// The amount by which each vehicle before the light raises the initial output of the network for
/// the green that lets this vehicle pass. With Q-learning an output is a value in units of the
/// reward, with PPO a logit.
double first_logit_of_a_vehicle(const config::Lights& settings, bool by_values) {
  constexpr double kSavedByAGreen_s = 10.0;  // estimated time that a vehicle saves with this green
  return by_values ? settings.reward_scale * kSavedByAGreen_s : kLogitOfAVehicle;
}

/// The traffic lights on this rank. They learn on the CPU in one thread. The network is so small
/// that starting a GPU kernel, or sharing the work among threads, takes longer than computing it.
class LightsAgent final : public Agent, private AgentInEpisodes {
 public:
  LightsAgent(const AgentContext& context, bool by_values)
      : config_(context.run.config()),
        communicator_(context.run.communicator().host()),
        by_values_(by_values),
        policy_(kind_of(config_.lights),
                derive_seed(static_cast<std::uint64_t>(config_.run.seed), {kControllerStream}),
                first_logit_of_a_vehicle(config_.lights, by_values)),
        learner_(make_learner(context)),
        histories_(policy_,
                   {.reward_scale = config_.lights.reward_scale, .gamma = learner_->gamma()}) {}

  [[nodiscard]] AgentInEpisodes* in_episodes() override { return this; }

  void begin_iteration(const Progress& /*progress*/) override {
    kept_.clear();
    learner_->begin_iteration(decisions_);
  }
  std::optional<Learned> learn(const RolloutBatch& batch, const Progress& progress) override;
  void with_evaluated_weights(const std::function<void()>& use) override;
  void set_step_factor(double factor) override { learner_->set_step_factor(factor); }

  std::string start_from(const checkpoint::Snapshot& snapshot) override;
  void start() override {
    comm::check_replicas_equal(communicator_, parameters().flat(), "the parameters at the start");
  }
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  void take_best(const checkpoint::Snapshot& snapshot) override { learner_->start_from(snapshot); }
  void save_learner(checkpoint::Snapshot& snapshot) const override { learner_->save_to(snapshot); }
  void restore_learner(const checkpoint::Snapshot& snapshot) override {
    learner_->restore_from(snapshot);
  }

  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_->parameters();
  }
  [[nodiscard]] bool prefers_one_thread() const override { return true; }
  [[nodiscard]] std::int64_t skipped_steps() const override { return learner_->skipped_steps(); }
  [[nodiscard]] std::int64_t bytes_of_parts() const override { return learner_->bytes_of_parts(); }
  [[nodiscard]] MemoryNeeds memory_needs() const override { return learner_->memory_needs(); }
  void conclude(report::Summary& summary) const override {
    summary.result["light_decisions"] = decisions_;
  }

 private:
  std::unique_ptr<lights::Learner> make_learner(const AgentContext& context);
  void check_learner(const checkpoint::Snapshot& snapshot) const;
  [[nodiscard]] std::string name_of(const std::string& metric) const;

  void begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) override;
  void take_in(int env, const rollout::Period& period) override { histories_.take_in(env, period); }
  void decide(int env, const rollout::Period& period, rollout::Orders& orders) override {
    const auto& greens = histories_.decide(env, period.of<rollout::LightSection>());
    orders.add(rollout::kLights, std::span<const scene::SignalCommand>(greens));
  }
  void end(int env) override;

  const config::Config& config_;
  comm::Communicator& communicator_;
  bool by_values_;
  LightPolicy policy_;
  std::unique_ptr<lights::Learner> learner_;
  lights::LightHistories histories_;
  std::vector<lights::EpisodeHistory> kept_;  ///< episodes of this iteration
  std::int64_t decisions_ = 0;                ///< decisions of all ranks that were learned from
};

std::unique_ptr<lights::Learner> LightsAgent::make_learner(const AgentContext& context) {
  if (!by_values_) return std::make_unique<lights::PpoLearner>(config_, policy_, communicator_);
  return std::make_unique<lights::QLearner>(config_, policy_, communicator_, context.time_split);
}

/// Refuses a checkpoint whose lights learned by another algorithm than in this run. The network's
/// outputs are logits with PPO and values with Q-learning.
/// @throws CheckpointError
void LightsAgent::check_learner(const checkpoint::Snapshot& snapshot) const {
  check_light_kind(snapshot, policy_.kind());
  const std::string own = by_values_ ? "dqn" : "ppo";
  const std::string found = snapshot.text(kLearner);
  if (found == own) return;
  throw CheckpointError(
      "checkpoint {}: its lights were trained by {}, this run trains them by {}; set run.phase as "
      "in the run of the checkpoint, or start a training without this checkpoint",
      snapshot.source(), found, own);
}

void LightsAgent::begin(int env, std::int64_t order, std::optional<std::uint64_t> sampling_seed) {
  // The vehicles of the same episode use sampling_seed itself, so the lights derive another one.
  if (sampling_seed) sampling_seed = derive_seed(*sampling_seed, {kLightSamplingStream});
  histories_.begin(env, order, sampling_seed);
}

void LightsAgent::end(int env) {
  lights::EpisodeHistory history = histories_.end(env);
  if (!history.lights.empty()) kept_.push_back(std::move(history));
}

/// Metrics of the lights have the prefix "lights/" if vehicles learn, too.
std::string LightsAgent::name_of(const std::string& metric) const {
  if (!config_.env.vehicles_act()) return metric;
  return "lights/" + metric.substr(metric.find('/') + 1);
}

std::optional<Learned> LightsAgent::learn(const RolloutBatch& batch, const Progress& progress) {
  std::sort(kept_.begin(), kept_.end(),
            [](const auto& a, const auto& b) { return a.order < b.order; });
  auto learned = learner_->learn(kept_, batch.episodes, progress.iteration);
  if (!learned) return std::nullopt;
  decisions_ += learned->decisions;
  Learned out{.loss = learned->loss};
  for (const auto& [name, value] : learned->metrics) {
    out.metrics.emplace_back(name_of(name), value);
  }
  return out;
}

void LightsAgent::with_evaluated_weights(const std::function<void()>& use) {
  comm::check_replicas_equal(communicator_, learner_->parameters().flat(),
                             "the parameters of the lights before an evaluation");
  const lights::WeightsInUse in_use = learner_->weights_in_use();
  use();
}

std::string LightsAgent::start_from(const checkpoint::Snapshot& snapshot) {
  if (!has_light_policy(snapshot)) return {};
  check_learner(snapshot);
  learner_->start_from(snapshot);
  return "traffic lights";
}

void LightsAgent::restore_from(const checkpoint::Snapshot& snapshot) {
  check_learner(snapshot);
  learner_->restore_from(snapshot);
  decisions_ = snapshot.integer(kDecisions);
}

void LightsAgent::save_to(checkpoint::Snapshot& snapshot) const {
  learner_->save_to(snapshot);
  put_light_kind(snapshot, policy_.kind());
  snapshot.put_text(kLearner, by_values_ ? "dqn" : "ppo");
  snapshot.put_int(kDecisions, decisions_);
}

void check_lights(const config::Config& config, Algorithm algorithm) {
  if (algorithm == Algorithm::kConstrainedPpo) {
    throw ConfigError(
        "env.agents contains lights, but phase 3 trains only vehicles, under a limit on their "
        "cost; "
        "expected env.agents = [\"vehicles\"], or phase 2 for traffic lights");
  }
  if (config.episodes.rollout_fragment_length > 0) {
    throw ConfigError(
        "episodes.rollout_fragment_length is {}: traffic lights learn from whole episodes; "
        "expected 0",
        config.episodes.rollout_fragment_length);
  }
  if (algorithm == Algorithm::kQLearning && config.lights.encoder_layers > 0) {
    throw ConfigError(
        "lights.encoder_layers is {}: the replay of Q-learning does not contain the states of "
        "neighbouring lights; expected 0",
        config.lights.encoder_layers);
  }
}

}  // namespace

AgentRow lights_agent() {
  return {.format = rollout::format_of(rollout::kLights),
          .check = check_lights,
          .make = [](const AgentContext& context, Algorithm algorithm) -> std::unique_ptr<Agent> {
            return std::make_unique<LightsAgent>(context, algorithm == Algorithm::kQLearning);
          }};
}

}  // namespace traffic::train
