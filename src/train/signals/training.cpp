#include "signals/training.h"

#include <spdlog/spdlog.h>
#include <torch/utils.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "rollouts/network_check.h"
#include "rollouts/pool_count.h"
#include "rollouts/units.h"
#include "run/selection.h"
#include "run/snapshot_parts.h"
#include "run/together.h"
#include "signals/episodes.h"
#include "signals/ppo_learner.h"
#include "signals/q_learner.h"
#include "signals/settings.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"
#include "traffic/core/fault.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/report/paired_statistics.h"
#include "traffic/rollout/traffic/signal_pool.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/train/policy/decides.h"

namespace traffic::train {
namespace signals {
namespace {

constexpr const char* kLearner = "signals/learner";

/// Of all ranks' episodes, in their order.
struct Outcomes {
  std::vector<double> delay_s;
  std::vector<double> queue;
  std::int64_t env_steps = 0;
};

/// Values are in units of the reward, logits of probabilities are not.
double first_logit_of_a_vehicle(const config::Lights& settings) {
  constexpr double kSavedByAGreen_s = 10.0;  // of a vehicle that waits for it
  return settings.learns_values() ? settings.reward_scale * kSavedByAGreen_s : kLogitOfAVehicle;
}

/// On this rank: everything that lives as long as the training. It learns on the CPU, in one
/// thread: a network of this size takes a GPU longer to be told, and threads longer to share, than
/// to compute.
class SignalsTraining final : public Training {
 public:
  explicit SignalsTraining(Run& run)
      : run_(run),
        config_(run.config()),
        settings_(config_.lights),
        communicator_(run.communicator().host()),
        pool_(rollout::start_sumo_pool(run.session(), config_)),
        policy_(kind_of(settings_),
                derive_seed(static_cast<std::uint64_t>(config_.run.seed), {kControllerStream}),
                first_logit_of_a_vehicle(settings_)),
        learner_(make_learner()) {
    torch::set_num_threads(1);
  }

  [[nodiscard]] TrainingUnits units() const override { return units_of_rollouts(); }
  [[nodiscard]] std::int64_t step() const override { return iteration_; }
  [[nodiscard]] std::int64_t total_steps() const override { return config_.training.iterations; }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return learner_->parameters();
  }

  void start() override;
  [[nodiscard]] bool start_is_candidate() const override { return true; }
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  std::optional<Iteration> iterate() override;
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override { learner_->start_from(snapshot); }
  [[nodiscard]] std::int64_t bytes_of_parts() const override { return learner_->bytes_of_parts(); }
  [[nodiscard]] MemoryNeeds memory_needs() const override { return learner_->memory_needs(); }
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override;
  void close() override { pool_.close(); }

 private:
  std::unique_ptr<Learner> make_learner();
  void check_can_start(const checkpoint::Snapshot& snapshot) const;
  std::optional<std::vector<EpisodeHistory>> run_together(EpisodesWanted wanted,
                                                          std::int64_t count);
  Outcomes share(const std::vector<EpisodeHistory>& mine, std::int64_t count);
  std::optional<Outcomes> run_selection(const std::string& controller, bool may_give_up);
  void note_own_program();

  Run& run_;
  const config::Config& config_;
  const config::Lights settings_;
  comm::Communicator& communicator_;
  rollout::SignalPool pool_;
  SignalPolicy policy_;
  std::unique_ptr<Learner> learner_;
  std::int64_t iteration_ = 0;
  std::int64_t decisions_ = 0;               ///< of all ranks, learned from
  std::int64_t env_steps_ = 0;               ///< simulation steps of all ranks in training
  std::vector<double> own_program_delay_s_;  ///< of the selection seeds; empty: not run yet
  Selection selection_;
  rollout::PoolCounters counters_;  ///< of all nodes, after the last episodes
};

std::unique_ptr<Learner> SignalsTraining::make_learner() {
  if (!settings_.learns_values()) {
    return std::make_unique<PpoLearner>(config_, policy_, communicator_);
  }
  offpolicy::check_settings(config_.extension<offpolicy::OffPolicy>(), communicator_.size());
  return std::make_unique<QLearner>(config_, policy_, communicator_, time_split_);
}

/// What one learner takes for a probability is a value to the other.
/// @throws CheckpointError
void SignalsTraining::check_can_start(const checkpoint::Snapshot& snapshot) const {
  check_signal_kind(snapshot, policy_.kind());
  // Checkpoints from before there was another learner do not name theirs.
  const std::string found = snapshot.contains(kLearner) ? snapshot.text(kLearner) : "ppo";
  if (found == settings_.learner) return;
  throw CheckpointError(
      "checkpoint {}: its lights were trained with lights.learner = \"{}\", this run has "
      "\"{}\"; set it as it is there, or train anew",
      snapshot.source(), found, settings_.learner);
}

void SignalsTraining::start() {
  if (const std::string& path = config_.run.init_from; !path.empty()) {
    const checkpoint::Snapshot snapshot = checkpoint::load(path);
    check_can_start(snapshot);
    learner_->start_from(snapshot);
    spdlog::info("starting from {}", snapshot.source());
  }
  comm::check_replicas_equal(communicator_, parameters().flat(), "the parameters at the start");
}

/// The episodes of this rank among `count`; a failure of one rank is that of all.
std::optional<std::vector<EpisodeHistory>> SignalsTraining::run_together(EpisodesWanted wanted,
                                                                         std::int64_t count) {
  for (std::int64_t i = communicator_.rank(); i < count; i += communicator_.size()) {
    wanted.orders.push_back(i);
  }
  std::optional<std::vector<EpisodeHistory>> mine;
  together(communicator_, [&] {
    fault::hit("signals.collect", communicator_.rank(), iteration_);
    mine = run_episodes(pool_, wanted, time_split_);
  });
  counters_ = sum_over_nodes(pool_.counters(), communicator_);
  const bool given_up = communicator_.all_reduce_scalar(mine ? 0.0 : 1.0) > 0.0;
  return given_up ? std::nullopt : std::move(mine);
}

Outcomes SignalsTraining::share(const std::vector<EpisodeHistory>& mine, std::int64_t count) {
  torch::Tensor all = torch::zeros({3, count}, torch::kDouble);
  for (const EpisodeHistory& episode : mine) {
    all[0][episode.order] = episode.score.delay_s();
    all[1][episode.order] = episode.score.mean_queue();
    all[2][episode.order] = static_cast<double>(episode.env_steps);
  }
  communicator_.all_reduce(all);
  const auto* value = all.const_data_ptr<double>();
  return {.delay_s = {value, value + count},
          .queue = {value + count, value + 2 * count},
          .env_steps = static_cast<std::int64_t>(all[2].sum().item<double>())};
}

/// Collect, learn.
std::optional<Iteration> SignalsTraining::iterate() {
  const std::int64_t episodes = settings_.episodes;
  learner_->begin_iteration(decisions_);
  const auto seed = static_cast<std::uint64_t>(config_.run.seed);
  const auto mine = run_together(
      {.orders = {},
       .spec_of = [&](std::int64_t i) { return training_episode(config_, iteration_, i); },
       .policy = &policy_,
       .sampling_seed =
           derive_seed(seed, {kSamplingStream, static_cast<std::uint64_t>(iteration_)}),
       .crediting = {.reward_scale = settings_.reward_scale, .gamma = learner_->gamma()},
       .may_give_up = true},
      episodes);
  if (!mine) return std::nullopt;
  const Outcomes outcomes = share(*mine, episodes);
  const auto learning = time_split_.measure(TimeShare::kLearn);
  auto update = learner_->learn(*mine, episodes, iteration_);
  if (!update) return std::nullopt;
  ++iteration_;
  decisions_ += update->decisions;
  env_steps_ += outcomes.env_steps;
  report::NamedValues figures{{"rollout/delay_s", report::mean_interval(outcomes.delay_s).mean},
                              {"rollout/queue", report::mean_interval(outcomes.queue).mean}};
  const report::NamedValues shown{figures.front()};
  for (auto& figure : update->figures) figures.push_back(std::move(figure));
  return Iteration{.items = outcomes.env_steps,
                   .loss = update->loss,
                   .evaluation_due = iteration_ % config_.training.eval_interval == 0,
                   .metrics = std::move(figures),
                   .shown = std::move(shown)};
}

/// @param controller empty: the policy, greedy
std::optional<Outcomes> SignalsTraining::run_selection(const std::string& controller,
                                                       bool may_give_up) {
  const auto spec_of = [&](std::int64_t i) {
    rollout::EpisodeSpec spec = selection_episode(config_, i);
    spec.controller = controller;
    return spec;
  };
  const WeightsInUse in_use = learner_->weights_in_use();
  const auto mine = run_together({.orders = {},
                                  .spec_of = spec_of,
                                  .policy = controller.empty() ? &policy_ : nullptr,
                                  .may_give_up = may_give_up},
                                 config_.training.eval_episodes);
  if (!mine) return std::nullopt;
  return share(*mine, config_.training.eval_episodes);
}

void SignalsTraining::note_own_program() {
  if (own_program_delay_s_.empty()) own_program_delay_s_ = run_selection("none", false)->delay_s;
}

std::optional<Assessment> SignalsTraining::evaluate() {
  note_own_program();
  const auto found = run_selection("", true);
  if (!found) return std::nullopt;
  std::vector<double> gains;
  for (std::size_t i = 0; i < found->delay_s.size(); ++i) {
    gains.push_back(
        scene::gain_percent(found->delay_s[i], own_program_delay_s_[i], scene::Objective::kDelay));
  }
  const report::MeanInterval gain = report::mean_interval(gains);
  const double delay_s = report::mean_interval(found->delay_s).mean;
  spdlog::info("iteration {}: delay {:.1f} s, {:+.1f} % less than with the lights' own programs",
               iteration_, delay_s, gain.mean);
  return Assessment{.best = selection_.prefers(0.0, gains),
                    .metrics = {{"eval/delay_s", delay_s},
                                {"eval/queue", report::mean_interval(found->queue).mean},
                                {"eval/gain_percent", gain.mean}}};
}

void SignalsTraining::conclude(report::Summary& summary) {
  note_own_program();
  const Outcomes found = *run_selection("", false);
  summary.result["delay_s"] = report::mean_interval(found.delay_s).mean;
  summary.result["own_program_delay_s"] = report::mean_interval(own_program_delay_s_).mean;
  summary.result["decisions"] = decisions_;
  summary.result["env_steps"] = env_steps_;
}

void SignalsTraining::count_faults(report::Summary& summary) const {
  summary.faults["lost_episodes"] = static_cast<std::int64_t>(counters_.lost_episodes);
  summary.faults["restarted_environments"] = static_cast<std::int64_t>(counters_.restarts);
  summary.faults["skipped_steps"] = learner_->skipped_steps();
}

void SignalsTraining::save_to(checkpoint::Snapshot& snapshot) const {
  learner_->save_to(snapshot);
  put_signal_kind(snapshot, policy_.kind());
  snapshot.put_text(kLearner, settings_.learner);
  put_decides(snapshot, Decides::kGreedy);
  snapshot.put_int("signals/iteration", iteration_);
  snapshot.put_int("signals/decisions", decisions_);
  snapshot.put_int("signals/env_steps", env_steps_);
  snapshot.put_tensor("signals/best_gains", selection_.best_gains());
}

void SignalsTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  check_can_start(snapshot);
  learner_->restore_from(snapshot);
  iteration_ = snapshot.integer("signals/iteration");
  decisions_ = snapshot.integer("signals/decisions");
  env_steps_ = snapshot.integer("signals/env_steps");
  selection_.restore(0.0, snapshot.tensor("signals/best_gains"));
}

TrainingEnd look_at_networks(const Preparation& preparation) {
  look_at_networks_together(preparation.config, preparation.communicator);
  return TrainingEnd::kDone;
}

}  // namespace
}  // namespace signals

TrainingRow signals_training() {
  return {.facts = {.name = "signals",
                    .number = "",
                    .folder = "traffic_lights",
                    .help = "traffic lights, in simulations",
                    .product = "Traffic lights",
                    .about = "A controller of traffic lights: of each light that may switch it "
                             "says which green comes next, so that less time is lost. One policy "
                             "for all lights of all networks.",
                    .of_traffic = false,
                    .starts_from = {},
                    .simulates = true,
                    .sections = {"env", "rollout", "training", "episodes", "ppo", "lights",
                                 "lights.ppo", "offpolicy"},
                    .presets = signals::presets()},
          .make = [](Run& run) -> std::unique_ptr<Training> {
            return std::make_unique<signals::SignalsTraining>(run);
          },
          .check_new = signals::check_settings,
          .own_sections = {},
          .prepare = signals::look_at_networks};
}

}  // namespace traffic::train
