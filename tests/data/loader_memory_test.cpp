/// What the loader keeps in memory while it reads far more than that.
#include <gtest/gtest.h>
#include <malloc.h>

#include <algorithm>
#include <memory>

#include "synthetic.h"
#include "traffic/core/process.h"
#include "traffic/data/traffic_batches.h"

namespace traffic::data {
namespace {

constexpr std::int64_t kMiB = 1024 * 1024;

TEST(LoaderMemory, StaysUnderItsLimitOnTenTimesAsManyData) {
  const test::TempDir dir;
  config::Data data;
  data.files = {dir / "*.h5"};
  data.cache_mb = 16;
  data.shuffle_chunks = 4;
  data.num_workers = 2;
  data.drop_last = false;
  for (std::uint64_t file = 0; file < 10; ++file) {
    std::vector<test::EpisodeSpec> episodes;
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      episodes.push_back(
          {{.seed = 100 * file + seed, .frames = 100, .vehicles = 160, .edge_share = 0.02}});
    }
    test::write_file(dir / (std::to_string(file) + ".h5"), episodes, {.compression_level = 1});
  }
  const auto dataset = std::make_shared<const Dataset>(open_data_files(data).files, Split::kTrain,
                                                       window_options(data));
  std::int64_t decoded_bytes = 0;
  for (const auto& block : dataset->blocks()) decoded_bytes += block.decoded_bytes;
  ASSERT_GE(decoded_bytes, 10 * data.cache_mb * kMiB);

  malloc_trim(0);
  const std::int64_t before = rss_bytes();
  TrafficLoader loader(traffic_batches(dataset, batch_options(data, 1, false)),
                       {.data = data, .seed = 1});
  std::int64_t most = before;
  for (std::int64_t epoch = 0; epoch < 2; ++epoch) {
    loader.start_epoch(epoch);
    while (const auto batch = loader.next()) most = std::max(most, rss_bytes());
  }
  EXPECT_GE(loader.blocks_decoded(), 2 * std::ssize(dataset->blocks()) - 12);
  EXPECT_LT(most - before, data.cache_mb * kMiB) << decoded_bytes << " bytes of data";
  std::printf("decoded %ld MiB, grew %ld MiB\n", decoded_bytes / kMiB, (most - before) / kMiB);
}

}  // namespace
}  // namespace traffic::data
