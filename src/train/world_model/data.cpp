#include "world_model/data.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::train {
namespace {

std::unique_ptr<data::TrafficLoader> make_loader(std::shared_ptr<const data::Dataset> dataset,
                                                 config::Data options, std::uint64_t seed,
                                                 const comm::Communicator& communicator) {
  auto batches = data::traffic_batches(
      std::move(dataset), data::batch_options(options, seed, communicator.device().is_cuda()));
  return std::make_unique<data::TrafficLoader>(
      std::move(batches), data::LoaderOptions{.data = std::move(options),
                                              .seed = seed,
                                              .rank = communicator.rank(),
                                              .world_size = communicator.size()});
}

}  // namespace

WorldModelData open_world_model_data(const config::Config& config,
                                     comm::Communicator& communicator) {
  const data::OpenedFiles opened = data::open_data_files(config.data);
  for (const std::string& message : opened.skipped) spdlog::warn("data: skipped: {}", message);
  data::WindowOptions windows = data::window_options(config.data);
  WorldModelData data;
  data.train = std::make_shared<data::Dataset>(opened.files, data::Split::kTrain, windows);
  windows.max_time_shift = 0;  // of augmentation: evaluation has none
  data.validation =
      std::make_shared<data::Dataset>(opened.files, data::Split::kValidation, windows);
  data.test = std::make_shared<data::Dataset>(opened.files, data::Split::kTest, windows);
  communicator.all_agree(data.train->fingerprint(), "the recorded data (data.files)");
  spdlog::info("data: {} files, samples: {} train, {} validation, {} test", opened.files.size(),
               data.train->num_samples(), data.validation->num_samples(), data.test->num_samples());
  return data;
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
