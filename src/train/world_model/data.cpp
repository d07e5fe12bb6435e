#include "world_model/data.h"

#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <utility>
#include <vector>

#include "monitor/reading_threads.h"
#include "run/staged_files.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"
#include "traffic/core/text.h"

namespace traffic::train {
namespace {

/// Makes a loader of this rank's batches of a split.
/// @param seed seed of the order of the samples and of augmentation
std::unique_ptr<data::TrafficLoader> make_loader(std::shared_ptr<const data::Dataset> dataset,
                                                 const config::Data& wanted, std::uint64_t seed,
                                                 const comm::Communicator& communicator) {
  config::Data options = with_reading_threads(wanted, communicator);
  auto batches = data::traffic_batches(
      std::move(dataset),
      data::batch_options(options, seed, options.pin_memory && communicator.device().is_cuda()));
  return std::make_unique<data::TrafficLoader>(
      std::move(batches), data::LoaderOptions{.data = std::move(options),
                                              .seed = seed,
                                              .rank = communicator.rank(),
                                              .world_size = communicator.size()});
}

/// Logs the features that at least one file lacks. The training does not use these features, even
/// if other files contain them.
void report_missing(const data::OpenedFiles& opened, const data::FileInfo& together) {
  const auto missing = data::missing_features(together);
  if (missing.empty()) return;
  spdlog::info(
      "data: {} features are missing and will be ignored, also by controllers that build "
      "on this world model: {}",
      missing.size(), fmt::join(missing, ", "));
  for (const auto& file : opened.files) {
    const auto here = data::missing_features(file->info());
    if (here == missing) continue;
    std::vector<std::string> given_up;
    std::copy_if(
        missing.begin(), missing.end(), std::back_inserter(given_up),
        [&](const auto& name) { return std::find(here.begin(), here.end(), name) == here.end(); });
    spdlog::warn(
        "data: {} has {}, which other files lack; these features are not used (to use them, "
        "train on files of one source)",
        file->path(), fmt::join(given_up, ", "));
  }
}

}  // namespace

WorldModelData open_world_model_data(const config::Config& config,
                                     comm::Communicator& communicator) {
  const data::OpenedFiles opened =
      data::open_data_files(with_staged_files(config.data, communicator));
  for (const std::string& message : opened.skipped) spdlog::warn("data: skipped: {}", message);
  data::WindowOptions windows = data::window_options(config.data);
  WorldModelData data;
  data.train = std::make_shared<data::Dataset>(opened.files, data::Split::kTrain, windows);
  windows.max_time_shift = 0;  // only augmentation shifts times; evaluation uses none
  windows.max_samples = 0;
  data.validation =
      std::make_shared<data::Dataset>(opened.files, data::Split::kValidation, windows);
  data.test = std::make_shared<data::Dataset>(opened.files, data::Split::kTest, windows);
  if (communicator.rank() == 0) report_missing(opened, data.train->info());
  communicator.all_agree(data.train->fingerprint(), "the recorded data (data.files)");
  spdlog::info("data: {}, samples: {} train, {} validation, {} test",
               counted(static_cast<std::int64_t>(opened.files.size()), "file"),
               data.train->num_samples(), data.validation->num_samples(), data.test->num_samples());
  return data;
}

std::string features_text(const data::FileInfo& info) {
  std::vector<std::string> names;
  for (const auto* table : {&info.node_features, &info.edge_features}) {
    for (const auto& feature : *table) {
      if (feature.present) names.push_back(feature.name);
    }
  }
  return fmt::format("{}", fmt::join(names, ","));
}

void check_features(const checkpoint::Snapshot& snapshot, const data::FileInfo& info) {
  const std::string now = features_text(info);
  const std::string then = snapshot.contains("features")
                               ? snapshot.text("features")
                               : features_text(data::file_info_of_this_program());
  if (then == now) return;
  throw CheckpointError(
      "checkpoint {}: it was trained on data with the features {}, but data.files have {}; resume "
      "with data of the same features, or start a new run (--resume never in another --run-dir; it "
      "can take the weights with run.init_from)",
      snapshot.source(), then, now);
}

std::unique_ptr<data::TrafficLoader> make_train_loader(const WorldModelData& data,
                                                       const config::Config& config,
                                                       const comm::Communicator& communicator) {
  const std::uint64_t seed =
      derive_seed(static_cast<std::uint64_t>(config.run.seed), {kLoaderStream});
  return make_loader(data.train, config.data, seed, communicator);
}

std::unique_ptr<data::TrafficLoader> make_evaluation_loader(
    std::shared_ptr<const data::Dataset> dataset, const config::Config& config,
    const comm::Communicator& communicator) {
  config::Data options = config.data;
  options.shuffle = false;
  options.drop_last = false;
  options.augmentation.enabled = false;
  return make_loader(std::move(dataset), std::move(options), 0, communicator);
}

}  // namespace traffic::train
