#include "driving/scene_batches.h"

#include <algorithm>
#include <array>
#include <numbers>
#include <set>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/data/block_cache.h"
#include "traffic/data/reader.h"

namespace traffic::train::driving_policy {
namespace {

struct TracksBlock final : data::Block {
  explicit TracksBlock(std::shared_ptr<const driving::SceneTracks> tracks_in)
      : tracks(std::move(tracks_in)) {}
  std::shared_ptr<const driving::SceneTracks> tracks;
};

driving::ExampleRule rule_of(const data::SceneReader& file) {
  return file.info().source == kCorrections ? driving::ExampleRule::kCorrections
                                            : driving::ExampleRule::kAll;
}

class SceneBatches final : public data::BatchSource<DrivingBatch> {
 public:
  SceneBatches(std::shared_ptr<const SceneSet> scenes, const Driving& settings,
               const ExampleChanges& changes)
      : scenes_(std::move(scenes)), settings_(settings), changes_(changes) {}

  [[nodiscard]] const data::SampleIndex& index() const override { return *scenes_; }
  [[nodiscard]] std::shared_ptr<const data::Block> decode(std::int32_t block) const override {
    return std::make_shared<TracksBlock>(scenes_->read(block));
  }
  [[nodiscard]] DrivingBatch build(std::span<const data::Draw> draws, std::int64_t epoch,
                                   data::BlockCache& blocks) const override;

 private:
  struct Changes {
    driving::Perturbation perturbation;
    driving::ObserveOptions observe;
  };
  [[nodiscard]] Changes draw_changes(Rng& rng) const;

  std::shared_ptr<const SceneSet> scenes_;
  Driving settings_;
  ExampleChanges changes_;
};

SceneBatches::Changes SceneBatches::draw_changes(Rng& rng) const {
  Changes drawn;
  drawn.observe.history = settings_.history_dropout < 1.0;
  if (!changes_.enabled) return drawn;
  if (rng.uniform() < settings_.perturbed_share) {
    drawn.perturbation.aside_m = static_cast<float>(settings_.perturb_aside_m * rng.normal());
    drawn.perturbation.heading_rad =
        static_cast<float>(settings_.perturb_heading_deg * std::numbers::pi / 180.0 * rng.normal());
    drawn.perturbation.speed_mps = static_cast<float>(settings_.perturb_speed_mps * rng.normal());
  }
  drawn.observe.mirrored = rng.uniform() < settings_.mirror_share;
  drawn.observe.history = rng.uniform() >= settings_.history_dropout;
  return drawn;
}

DrivingBatch SceneBatches::build(std::span<const data::Draw> draws, std::int64_t epoch,
                                 data::BlockCache& blocks) const {
  const driving::RasterSpec& raster = raster_of(settings_);
  const auto count = static_cast<std::int64_t>(draws.size());
  const bool diffuses = settings_.head == "diffusion";
  DrivingBatch batch = observed_batch(raster, count);
  batch.plan = torch::empty({count, model::kPlanSize});
  batch.weight = torch::empty({count});
  batch.noise = torch::empty({count, diffuses ? settings_.modes : 0, model::kPlanSize});
  batch.noise_level = torch::empty({count});
  thread_local driving::Example example;
  driving::Observer observer(raster);
  for (std::int64_t i = 0; i < count; ++i) {
    const data::Draw& draw = draws[static_cast<std::size_t>(i)];
    const std::int32_t block = scenes_->block_of(draw.sample);
    const auto tracks = blocks.get_as<TracksBlock>(block)->tracks;
    Rng rng(derive_seed(changes_.seed, {kAugmentationStream, static_cast<std::uint64_t>(epoch),
                                        static_cast<std::uint64_t>(draw.sample)}));
    const Changes changes = draw_changes(rng);
    driving::make_example(*tracks, scenes_->place_of(draw.sample, *tracks), changes.perturbation,
                          example);
    observe(observer, tracks->map(), example.view, changes.observe, i, batch);
    batch.weight.mutable_data_ptr<float>()[i] = draw.weight;
    float* plan = batch.plan.mutable_data_ptr<float>() + i * model::kPlanSize;
    for (const driving::Point& point : example.target.points) {
      *plan++ = point.x_m;
      *plan++ = changes.observe.mirrored ? -point.y_m : point.y_m;
    }
    batch.noise_level.mutable_data_ptr<float>()[i] = static_cast<float>(rng.uniform());
    const std::int64_t noises = batch.noise.stride(0) * (diffuses ? 1 : 0);
    for (std::int64_t n = 0; n < noises; ++n) {
      batch.noise.mutable_data_ptr<float>()[i * noises + n] = static_cast<float>(rng.normal());
    }
  }
  return batch;
}

}  // namespace

DrivingBatch observed_batch(const driving::RasterSpec& raster, std::int64_t count) {
  DrivingBatch batch;
  batch.image = torch::empty({count, raster.channels, raster.rows, raster.columns}, torch::kByte);
  batch.status = torch::empty({count, static_cast<std::int64_t>(driving::kStatusSize)});
  batch.speed_mps = torch::empty({count});
  return batch;
}

void observe(driving::Observer& observer, const driving::MapIndex& map, const driving::View& view,
             const driving::ObserveOptions& options, std::int64_t i, DrivingBatch& batch) {
  const std::size_t image_bytes = observer.spec().num_bytes();
  observer.observe(
      map, view, options,
      {batch.image.mutable_data_ptr<std::uint8_t>() + i * static_cast<std::int64_t>(image_bytes),
       image_bytes},
      {batch.status.mutable_data_ptr<float>() + i * batch.status.size(1), driving::kStatusSize});
  batch.speed_mps.mutable_data_ptr<float>()[i] = view.ego[0].speed_mps;
}

std::vector<driving::Plan> plans_in(const torch::Tensor& plans) {
  const torch::Tensor whole = plans.contiguous();
  std::vector<driving::Plan> found(static_cast<std::size_t>(whole.numel() / model::kPlanSize));
  const float* value = whole.const_data_ptr<float>();
  for (driving::Plan& plan : found) {
    for (driving::Point& point : plan.points) {
      point.x_m = *value++;
      point.y_m = *value++;
    }
  }
  return found;
}

std::int64_t DrivingBatch::num_bytes() const {
  std::int64_t bytes = 0;
  for (const auto& x : {image, status, speed_mps, plan, weight, noise, noise_level}) {
    bytes += static_cast<std::int64_t>(x.nbytes());
  }
  return bytes;
}

DrivingBatch DrivingBatch::to(torch::Device device) const {
  if (device.is_cpu()) return *this;
  const auto there = [&](const torch::Tensor& x) { return x.to(device, /*non_blocking=*/true); };
  return {there(image),  there(status), there(speed_mps),  there(plan),
          there(weight), there(noise),  there(noise_level)};
}

DrivingBatch DrivingBatch::slice(std::int64_t begin, std::int64_t end) const {
  const auto part = [&](const torch::Tensor& x) { return x.slice(0, begin, end); };
  return {part(image),  part(status), part(speed_mps),  part(plan),
          part(weight), part(noise),  part(noise_level)};
}

SceneSet::SceneSet(const std::vector<std::string>& patterns, data::Split split, bool all,
                   std::int64_t corrections_repeat)
    : split_(split) {
  Hasher hash;
  std::set<std::string> maps;
  std::int64_t samples = 0;
  for (const std::string& path : data::find_data_files(patterns)) {
    const auto file = std::make_shared<const data::SceneReader>(path);
    const std::uint64_t content = file->info().content_hash;
    hash.update(std::as_bytes(std::span(&content, 1)));
    for (std::size_t e = 0; e < file->episodes().size(); ++e) {
      const data::SceneEpisode& episode = file->episodes()[e];
      if (!all && episode.split != split) continue;
      const driving::SceneTracks tracks(file->read(e), rule_of(*file));
      const bool corrects = rule_of(*file) == driving::ExampleRule::kCorrections;
      const std::int64_t count = std::ssize(tracks.places()) * (corrects ? corrections_repeat : 1);
      if (count == 0) continue;
      maps.insert(tracks.scene().map->name);
      blocks_.push_back({samples, count, tracks.num_bytes()});
      episodes_.push_back({files_.size(), e});
      samples += count;
      if (corrects) num_corrections_ += count;
    }
    files_.push_back(file);
  }
  maps_.assign(maps.begin(), maps.end());
  const std::array<std::uint64_t, 3> parts{static_cast<std::uint64_t>(split), all ? 1U : 0U,
                                           static_cast<std::uint64_t>(corrections_repeat)};
  hash.update(std::as_bytes(std::span(parts)));
  fingerprint_ = hash.digest();
}

std::string SceneSet::name() const {
  return "the " + std::string(data::to_string(split_)) + " split of the scenes";
}

std::string SceneSet::advice_when_empty() const {
  return "record scenes with data_prep record --scenes; an example needs a vehicle that is seen "
         "for three seconds and a half";
}

std::int32_t SceneSet::block_of(std::int64_t sample) const {
  const auto after = std::upper_bound(
      blocks_.begin(), blocks_.end(), sample,
      [](std::int64_t s, const data::SampleBlock& block) { return s < block.first_sample; });
  return static_cast<std::int32_t>(after - blocks_.begin()) - 1;
}

const driving::ExamplePlace& SceneSet::place_of(std::int64_t sample,
                                                const driving::SceneTracks& tracks) const {
  // Samples of corrections repeat the examples of their block.
  const std::int64_t first = blocks_[static_cast<std::size_t>(block_of(sample))].first_sample;
  return tracks.places()[static_cast<std::size_t>((sample - first) % std::ssize(tracks.places()))];
}

std::shared_ptr<const driving::SceneTracks> SceneSet::read(std::int32_t block) const {
  const Episode& at = episodes_[static_cast<std::size_t>(block)];
  const data::SceneReader& file = *files_[at.file];
  return std::make_shared<const driving::SceneTracks>(file.read(at.episode), rule_of(file));
}

std::shared_ptr<const data::BatchSource<DrivingBatch>> scene_batches(
    std::shared_ptr<const SceneSet> scenes, const Driving& settings,
    const ExampleChanges& changes) {
  return std::make_shared<SceneBatches>(std::move(scenes), settings, changes);
}

}  // namespace traffic::train::driving_policy
