#include "driving/training.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>
#include <torch/types.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "driving/open_loop.h"
#include "driving/policy.h"
#include "driving/scene_batches.h"
#include "driving/settings.h"
#include "driving/trainer.h"
#include "monitor/reading_threads.h"
#include "optim/precision.h"
#include "run/snapshot_parts.h"
#include "run/staged_files.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace driving_policy {
namespace {

/// Maximum number of samples from which Policy::set_statistics() computes how far plans deviate
/// from a straight one (scales) and the most typical plans (anchors).
constexpr std::int64_t kStatisticsSamples = 4096;

struct Scenes {
  std::shared_ptr<const SceneSet> train;
  std::shared_ptr<const SceneSet> validation;
  std::shared_ptr<const SceneSet> test;
};

/// Opens the scenes of all splits, and checks that all ranks read the same files. Collective.
Scenes open_scenes(const config::Data& data, const Driving& settings,
                   comm::Communicator& communicator) {
  Scenes scenes;
  scenes.train = std::make_shared<SceneSet>(data.files, data::Split::kTrain, false,
                                            settings.corrections_repeat);
  if (settings.validation_files.empty()) {
    scenes.validation = std::make_shared<SceneSet>(data.files, data::Split::kValidation, false);
    scenes.test = std::make_shared<SceneSet>(data.files, data::Split::kTest, false);
  } else {
    scenes.validation =
        std::make_shared<SceneSet>(settings.validation_files, data::Split::kValidation, true);
    scenes.test = scenes.validation;
  }
  for (const auto& set : {scenes.validation, scenes.test}) {
    if (set->num_samples() == 0) {
      throw DataError("{} has no samples; name files in driving.validation_files, or {}",
                      set->name(), set->advice_when_empty());
    }
  }
  communicator.all_agree(scenes.train->fingerprint(), "the recorded scenes (data.files)");
  spdlog::info(
      "scenes: {} episodes, {} samples, {} of them corrections; validation on {} samples "
      "of {}",
      scenes.train->blocks().size(), scenes.train->num_samples(), scenes.train->num_corrections(),
      scenes.validation->num_samples(),
      scenes.train->maps() == scenes.validation->maps()
          ? "maps that also occur in training"
          : fmt::format("the maps {}", fmt::join(scenes.validation->maps(), ", ")));
  return scenes;
}

std::unique_ptr<DrivingLoader> make_loader(std::shared_ptr<const SceneSet> scenes,
                                           const Driving& settings, const config::Config& config,
                                           const comm::Communicator& communicator) {
  const std::uint64_t seed =
      derive_seed(static_cast<std::uint64_t>(config.run.seed), {kDrivingLoaderStream});
  return std::make_unique<DrivingLoader>(
      scene_batches(std::move(scenes), settings, {.enabled = true, .seed = seed}),
      data::LoaderOptions{.data = with_reading_threads(config.data, communicator),
                          .seed = seed,
                          .rank = communicator.rank(),
                          .world_size = communicator.size()});
}

std::int64_t total_steps_of(const config::Train& train, std::int64_t batches_per_epoch) {
  const std::int64_t steps = train.epochs * (batches_per_epoch / train.accumulation_steps);
  if (steps < 1) {
    throw ConfigError(
        "train.accumulation_steps is {}, but an epoch has only {} batches; lower "
        "train.accumulation_steps, data.batch_size or the number of ranks, or record more scenes",
        train.accumulation_steps, batches_per_epoch);
  }
  return train.max_steps > 0 ? std::min(steps, train.max_steps) : steps;
}

class DrivingTraining final : public Training {
 public:
  explicit DrivingTraining(Run& run)
      : run_(run),
        config_(run.config()),
        settings_(config_.extension<Driving>()),
        seed_(static_cast<std::uint64_t>(config_.run.seed)),
        communicator_(run.communicator()),
        scenes_(
            open_scenes(with_staged_files(config_.data, communicator_), settings_, communicator_)),
        loader_(make_loader(scenes_.train, settings_, config_, communicator_)),
        policy_(settings_, derive_seed(seed_, {kDrivingStream}), communicator_.device()),
        trainer_(config_, policy_, communicator_, time_split_,
                 total_steps_of(config_.train, loader_->steps_per_epoch())) {}

  [[nodiscard]] TrainingUnits units() const override { return {.first_is_warm_up = true}; }
  [[nodiscard]] std::int64_t step() const override { return trainer_.global_step(); }
  [[nodiscard]] std::int64_t total_steps() const override { return trainer_.total_steps(); }
  [[nodiscard]] const comm::ParameterArena& parameters() const override {
    return policy_.parameters();
  }
  [[nodiscard]] std::string batch_text() const override;
  void start() override;
  void restore_from(const checkpoint::Snapshot& snapshot) override;
  void save_to(checkpoint::Snapshot& snapshot) const override;
  std::optional<Iteration> iterate() override;
  std::optional<Assessment> evaluate() override;
  void take_best(const checkpoint::Snapshot& snapshot) override { trainer_.start_from(snapshot); }
  void conclude(report::Summary& summary) override;
  void count_faults(report::Summary& summary) const override {
    summary.faults["skipped_steps"] = trainer_.skipped_steps();
    summary.faults["damaged_blocks"] = loader_->num_bad_blocks();
  }

 private:
  void find_statistics();
  [[nodiscard]] bool is_epoch_over() const {
    return loader_->steps_left() < config_.train.accumulation_steps;
  }

  Run& run_;
  config::Config config_;
  const Driving settings_;
  std::uint64_t seed_;
  comm::Communicator& communicator_;
  Scenes scenes_;
  std::unique_ptr<DrivingLoader> loader_;
  Policy policy_;
  Trainer trainer_;
  std::int64_t epoch_ = 0;
  bool epoch_running_ = false;
  double best_l2_m_ = std::numeric_limits<double>::infinity();
  double grad_norm_ = 0.0;  ///< summed over the steps since metrics were last returned
  double loss_ = 0.0;
  std::int64_t steps_ = 0;
};

std::string DrivingTraining::batch_text() const {
  const std::int64_t all =
      config_.data.batch_size * communicator_.size() * config_.train.accumulation_steps;
  return fmt::format("{} samples: data.batch_size = {} per rank, {} rank{}, learning rate {:.3g}",
                     all, config_.data.batch_size, communicator_.size(),
                     communicator_.size() == 1 ? "" : "s",
                     learning_rate_factor(config_.train.lr_scaling, communicator_.size()) *
                         config_.train.learning_rate);
}

/// Every rank computes the same statistics from samples that are spread over the data.
void DrivingTraining::find_statistics() {
  const std::int64_t count = std::min(kStatisticsSamples, scenes_.train->num_samples());
  torch::Tensor plans = torch::empty({count, model::kPlanSize});
  torch::Tensor speeds = torch::empty({count});
  driving::Example example;
  std::shared_ptr<const driving::SceneTracks> tracks;
  std::int32_t block = -1;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto sample =
        static_cast<std::int64_t>(static_cast<__int128>(scenes_.train->num_samples()) * i / count);
    if (const std::int32_t of_sample = scenes_.train->block_of(sample); of_sample != block) {
      block = of_sample;
      tracks = scenes_.train->read(block);
    }
    driving::make_example(*tracks, scenes_.train->place_of(sample, *tracks), {}, example);
    speeds.mutable_data_ptr<float>()[i] = example.view.ego[0].speed_mps;
    float* plan = plans.mutable_data_ptr<float>() + i * model::kPlanSize;
    for (const driving::Point& point : example.target.points) {
      *plan++ = point.x_m;
      *plan++ = point.y_m;
    }
  }
  policy_.set_statistics(plans, speeds, derive_seed(seed_, {kAnchorStream}));
}

void DrivingTraining::start() {
  const std::string& from = config_.run.init_from;
  if (from.empty()) {
    find_statistics();
    return;
  }
  const auto snapshot = checkpoint::load(from);
  check_training(snapshot, run_.facts());
  trainer_.start_from(snapshot);
}

std::optional<Iteration> DrivingTraining::iterate() {
  Iteration done;
  if (epoch_running_ && is_epoch_over()) {
    // Only a resumed run gets here, for example with another number of ranks. The rest of its epoch
    // is then too small for one more step, so the next epoch begins.
    epoch_running_ = false;
    ++epoch_;
    loader_->end_epoch();
    done.evaluation_due = epoch_ % config_.train.eval_interval_epochs == 0;
    return done;
  }
  if (!epoch_running_) loader_->start_epoch(epoch_);
  epoch_running_ = true;
  const StepResult result = trainer_.step(*loader_);
  for (const std::string& message : loader_->take_damage()) {
    spdlog::warn("data: damaged samples are replaced by others: {}", message);
  }
  loss_ += result.loss;
  grad_norm_ += result.grad_norm;
  ++steps_;
  done.items = static_cast<std::int64_t>(result.samples);
  done.loss = WatchedLoss{.value = result.loss, .stage = 0};
  done.shown = {{"loss", result.loss}};
  if (is_epoch_over() || step() >= total_steps()) {
    epoch_running_ = false;
    ++epoch_;
    loader_->end_epoch();
    done.evaluation_due = epoch_ % config_.train.eval_interval_epochs == 0;
    done.save_due = epoch_ % config_.checkpoint.save_interval_epochs == 0;
  }
  if (step() % config_.log.interval_steps == 0 || step() >= total_steps()) {
    const auto count = static_cast<double>(std::max<std::int64_t>(1, steps_));
    done.metrics = {{"train/loss", loss_ / count},
                    {"train/grad_norm", grad_norm_ / count},
                    {"train/learning_rate", result.learning_rate}};
    loss_ = grad_norm_ = 0.0;
    steps_ = 0;
  }
  return done;
}

std::optional<Assessment> DrivingTraining::evaluate() {
  const WithMeanWeights mean(policy_, trainer_);
  const OpenLoop found =
      compare_plans(policy_, *scenes_.validation, settings_.validation_samples, communicator_);
  const OpenLoopRow& policy = found.rows.front();
  spdlog::info(
      "epoch {}: plans deviate by {:.2f}, {:.2f} and {:.2f} m after 1, 2 and 3 s (L2); the best of "
      "6 "
      "plans ends {:.2f} m away (minFDE6), and more than 2 m away in {:.1f} % of the samples; "
      "{:.2f} % of the planned positions are off the road, {:.2f} % hit a vehicle",
      epoch_, policy.l2_1s_m, policy.l2_2s_m, policy.l2_3s_m, policy.min_fde_m, policy.miss_percent,
      policy.off_road_percent, policy.collision_percent);
  const double l2_m = (policy.l2_1s_m + policy.l2_2s_m + policy.l2_3s_m) / 3.0;
  const bool best = l2_m < best_l2_m_;
  best_l2_m_ = std::min(best_l2_m_, l2_m);
  return Assessment{.best = best, .save = false, .metrics = metrics_of(found)};
}

void DrivingTraining::conclude(report::Summary& summary) {
  const OpenLoop found =
      compare_plans(policy_, *scenes_.test, settings_.validation_samples, communicator_);
  for (const auto& [name, value] : metrics_of(found)) {
    summary.result[name.substr(name.find('/') + 1)] = value;
  }
  summary.result["samples"] = found.samples;
  if (run_.is_reporter()) print_open_loop(found);
}

void DrivingTraining::save_to(checkpoint::Snapshot& snapshot) const {
  trainer_.save_to(snapshot);
  snapshot.put_int("train/epoch", epoch_);
  snapshot.put_int("train/epoch_running", epoch_running_ ? 1 : 0);
  snapshot.put_real("train/best_l2_m", best_l2_m_);
  snapshot.put_real("train/loss_sum", loss_);
  snapshot.put_real("train/grad_norm_sum", grad_norm_);
  snapshot.put_int("train/summed_steps", steps_);
  if (epoch_running_) {
    snapshot.put_tensor("sampler/state", torch::tensor(loader_->state().encode()));
  }
}

void DrivingTraining::restore_from(const checkpoint::Snapshot& snapshot) {
  trainer_.restore_from(snapshot);
  epoch_ = snapshot.integer("train/epoch");
  best_l2_m_ = snapshot.real("train/best_l2_m");
  loss_ = snapshot.real("train/loss_sum");
  grad_norm_ = snapshot.real("train/grad_norm_sum");
  steps_ = snapshot.integer("train/summed_steps");
  epoch_running_ = snapshot.integer("train/epoch_running") != 0;
  if (!epoch_running_) return;
  const torch::Tensor state = snapshot.tensor("sampler/state");
  loader_->restore(data::SamplerState::decode(
      {state.const_data_ptr<std::int64_t>(), static_cast<std::size_t>(state.numel())}));
}

}  // namespace
}  // namespace driving_policy

TrainingRow driving_training() {
  return {.facts = {.name = "driving",
                    .number = "",
                    .folder = "driving_policy",
                    .help = "a policy that drives a vehicle, by imitation of recorded scenes",
                    .product = "Driving policy",
                    .about = "A driving policy: maps the view from above and the status of a "
                             "vehicle to its way in the next three seconds.",
                    .of_traffic = false,
                    .starts_from = {},
                    .sections = {"data", "train", "loss_scale", "driving"},
                    .presets = driving_policy::presets()},
          .make = [](Run& run) -> std::unique_ptr<Training> {
            check_precision("train.precision", run.config().train.precision,
                            run.communicator().device());
            return std::make_unique<driving_policy::DrivingTraining>(run);
          },
          .own_sections = driving_policy::own_sections()};
}

}  // namespace traffic::train
