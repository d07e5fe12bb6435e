/// TrafficLoader: the loader for batches of recorded traffic (Batch), and the batch source that it
/// needs. loader.h shows an example.
#pragma once

#include <cstdint>
#include <memory>

#include "traffic/config/config.h"
#include "traffic/data/batch.h"
#include "traffic/data/batch_source.h"
#include "traffic/data/dataset.h"
#include "traffic/data/loader.h"

namespace traffic::data {

/// How samples become batches.
struct BatchOptions {
  double conflict_ttc_s = 2.0;  ///< a vehicle is in conflict if its time-to-collision is below this
  config::Augmentation augmentation{};  ///< random changes of the samples
  std::uint64_t seed = 0;               ///< seed of the augmentation
  bool pin_memory = false;  ///< whether batches are in page-locked memory, which needs CUDA
};

/// The batch options of a configuration.
[[nodiscard]] BatchOptions batch_options(const config::Data& data, std::uint64_t seed,
                                         bool pin_memory);

/// Makes the source that builds batches from the samples of the data set.
[[nodiscard]] std::shared_ptr<const BatchSource<Batch>> traffic_batches(
    std::shared_ptr<const Dataset> dataset, const BatchOptions& options);

using TrafficLoader = DataLoader<Batch>;

}  // namespace traffic::data
