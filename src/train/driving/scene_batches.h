/// Reads files of recorded scenes and makes batches of examples from them, for the loader in the
/// module `data`.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "driving/settings.h"
#include "traffic/data/batch_source.h"
#include "traffic/data/loader.h"
#include "traffic/data/scene_file.h"
#include "traffic/driving/examples.h"
#include "traffic/driving/observation.h"

namespace traffic::train::driving_policy {

/// The value of SceneFileInfo::source in files of corrections. These files record how SUMO's own
/// driver would continue from the places that another driver has reached
/// (train/closed_loop/corrections.h).
inline constexpr std::string_view kCorrections = "corrections of a driving policy by SUMO";

/// B examples as tensors.
struct DrivingBatch {
  torch::Tensor image;        ///< [B, channels, rows, columns] uint8
  torch::Tensor status;       ///< [B, kStatusSize]
  torch::Tensor speed_mps;    ///< [B]
  torch::Tensor plan;         ///< [B, 12] recorded positions x, y at six times, in metres
  torch::Tensor weight;       ///< [B] 0 for samples that only fill up the batch
  torch::Tensor noise;        ///< [B, modes, 12] for the head diffusion, else empty
  torch::Tensor noise_level;  ///< [B] uniform in [0, 1)

  [[nodiscard]] std::int64_t size() const { return image.size(0); }
  [[nodiscard]] std::int64_t num_bytes() const;
  [[nodiscard]] DrivingBatch to(torch::Device device) const;
  /// Samples begin .. end - 1.
  [[nodiscard]] DrivingBatch slice(std::int64_t begin, std::int64_t end) const;
};

/// Makes a batch with memory for image, status and speed of `count` vehicles. Its other tensors are
/// undefined.
DrivingBatch observed_batch(const driving::RasterSpec& raster, std::int64_t count);
/// Writes what a vehicle sees as sample i of a batch: image, status and speed.
void observe(driving::Observer& observer, const driving::MapIndex& map, const driving::View& view,
             const driving::ObserveOptions& options, std::int64_t i, DrivingBatch& batch);
/// Converts a tensor into plans.
/// @param plans [..., 12] float32 on the CPU
std::vector<driving::Plan> plans_in(const torch::Tensor& plans);

/// The samples of one split in files of scenes. A block is an episode.
class SceneSet final : public data::SampleIndex {
 public:
  /// Reads every episode once to count its samples.
  /// @param all whether to take the episodes of all splits instead of those of `split`
  /// @param corrections_repeat number of times that each correction appears among the samples
  /// @throws DataError if a file cannot be used
  SceneSet(const std::vector<std::string>& patterns, data::Split split, bool all,
           std::int64_t corrections_repeat = 1);

  [[nodiscard]] std::span<const data::SampleBlock> blocks() const override { return blocks_; }
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }
  [[nodiscard]] std::string name() const override;
  [[nodiscard]] std::string advice_when_empty() const override;

  /// The block that contains a sample.
  [[nodiscard]] std::int32_t block_of(std::int64_t sample) const;
  [[nodiscard]] std::shared_ptr<const driving::SceneTracks> read(std::int32_t block) const;
  /// The vehicle and the frame of a sample.
  /// @param tracks what read() returns for the sample's block
  [[nodiscard]] const driving::ExamplePlace& place_of(std::int64_t sample,
                                                      const driving::SceneTracks& tracks) const;
  /// Number of samples from files of corrections, with their repetitions.
  [[nodiscard]] std::int64_t num_corrections() const { return num_corrections_; }
  [[nodiscard]] std::size_t num_files() const { return files_.size(); }
  /// Names of the maps of all episodes, sorted and without duplicates.
  [[nodiscard]] const std::vector<std::string>& maps() const { return maps_; }

 private:
  struct Episode {
    std::size_t file = 0;
    std::size_t episode = 0;
  };
  std::vector<std::shared_ptr<const data::SceneReader>> files_;
  data::Split split_;
  std::vector<Episode> episodes_;          ///< [blocks]
  std::vector<data::SampleBlock> blocks_;  ///< an episode each
  std::vector<std::string> maps_;
  std::int64_t num_corrections_ = 0;
  std::uint64_t fingerprint_ = 0;
};

/// The random changes of training examples.
struct ExampleChanges {
  bool enabled = false;  ///< whether to perturb, mirror, and drop the past of examples
  std::uint64_t seed = 0;
};

/// Makes the source from which a loader gets its batches. Changes and noise of a sample depend on
/// the seed, the epoch and the sample. They do not depend on the rank.
std::shared_ptr<const data::BatchSource<DrivingBatch>> scene_batches(
    std::shared_ptr<const SceneSet> scenes, const Driving& settings, const ExampleChanges& changes);

using DrivingLoader = data::DataLoader<DrivingBatch>;

}  // namespace traffic::train::driving_policy
