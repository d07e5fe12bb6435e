/// Measures the memory of the loader while it reads far more data than its limit.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "synthetic.h"
#include "traffic/core/process.h"
#include "traffic/data/traffic_batches.h"
#include "traffic/os/heap.h"

namespace traffic::data {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

std::shared_ptr<const Dataset> open(const config::Data& data) {
  return std::make_shared<const Dataset>(open_data_files(data).files, Split::kTrain,
                                         window_options(data));
}

/// Maximum resident memory of this process during an epoch, in bytes.
std::int64_t most_resident(std::shared_ptr<const Dataset> dataset, const config::Data& data) {
  TrafficLoader loader(traffic_batches(std::move(dataset), batch_options(data, 1, false)),
                       {.data = data, .seed = 1});
  std::int64_t most = 0;
  loader.start_epoch(0);
  while (const auto batch = loader.next()) most = std::max(most, rss_bytes());
  return most;
}

TEST(LoaderMemory, StaysBelowItsLimitWithTenTimesAsMuchData) {
  const test::TempDir dir;
  std::vector<test::EpisodeSpec> episodes;
  for (std::uint64_t seed = 1; seed <= 12; ++seed) {
    episodes.push_back({{.seed = seed, .frames = 220, .vehicles = 160, .edge_share = 0.02}});
  }
  test::write_file(dir / "0.h5", episodes, {.compression_level = 1});
  for (int copy = 1; copy < 20; ++copy) {
    std::filesystem::copy(dir / "0.h5", dir / (std::to_string(copy) + ".h5"));
  }
  config::Data data;
  data.files = {dir / "*.h5"};
  data.cache_mb = 64;
  data.shuffle_chunks = 3;
  data.num_workers = 2;
  const auto dataset = open(data);
  std::int64_t decoded_bytes = 0;
  for (const auto& block : dataset->blocks()) decoded_bytes += block.decoded_bytes;
  ASSERT_GE(decoded_bytes, 10 * data.cache_mb * kMiB);

  // In a first epoch torch and HDF5 allocate memory that they keep. It does not belong to the
  // loader.
  config::Data one_file = data;
  one_file.files = {dir / "0.h5"};
  one_file.cache_mb = 32;
  most_resident(open(one_file), one_file);
  os::return_free_memory();
  const std::int64_t before = rss_bytes();
  const std::int64_t most = most_resident(dataset, data);
  EXPECT_LT(most - before, data.cache_mb * kMiB);
  EXPECT_GT(most - before, data.cache_mb * kMiB / 2) << "the loader must use most of its limit";
}

}  // namespace
}  // namespace traffic::data
