/// Tests that sampler and loader work with any kind of data. The data of these tests are grey
/// images in blocks, like a video of a road from above.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <utility>
#include <vector>

#include "traffic/core/error.h"
#include "traffic/data/block_cache.h"
#include "traffic/data/loader.h"

namespace traffic::data {
namespace {

constexpr std::size_t kPixels = 12;

struct ImageBatch {
  std::vector<std::int64_t> id;
  std::vector<float> weight;
  std::vector<unsigned char> pixels;  ///< [images, kPixels]

  [[nodiscard]] std::int64_t num_bytes() const { return static_cast<std::int64_t>(pixels.size()); }
};

struct ImageBlock final : Block {
  std::vector<unsigned char> pixels;  ///< [images of the block, kPixels]
};

/// A pixel of an image. The function takes the place of a file.
unsigned char pixel(std::int64_t image, std::size_t place) {
  return static_cast<unsigned char>(7 * image + static_cast<std::int64_t>(place));
}

class Images final : public SampleIndex, public BatchSource<ImageBatch> {
 public:
  explicit Images(const std::vector<std::int64_t>& images_of_block) {
    for (const std::int64_t count : images_of_block) {
      const std::int64_t first = num_samples();
      blocks_.push_back({.first_sample = first,
                         .num_samples = count,
                         .decoded_bytes = count * static_cast<std::int64_t>(kPixels)});
    }
  }

  [[nodiscard]] std::span<const SampleBlock> blocks() const override { return blocks_; }
  [[nodiscard]] std::uint64_t fingerprint() const override { return blocks_.size(); }
  [[nodiscard]] std::string name() const override { return "the album"; }
  [[nodiscard]] std::string advice_when_empty() const override { return "take some pictures"; }

  [[nodiscard]] const SampleIndex& index() const override { return *this; }
  [[nodiscard]] std::shared_ptr<const Block> decode(std::int32_t block) const override {
    if (block == damaged_block) throw DataError("image block {} is damaged", block);
    const SampleBlock& range = blocks_[static_cast<std::size_t>(block)];
    auto decoded = std::make_shared<ImageBlock>();
    for (std::int64_t i = 0; i < range.num_samples; ++i) {
      for (std::size_t p = 0; p < kPixels; ++p) {
        decoded->pixels.push_back(pixel(range.first_sample + i, p));
      }
    }
    return decoded;
  }
  [[nodiscard]] ImageBatch build(std::span<const Draw> draws, std::int64_t epoch,
                                 BlockCache& blocks) const override {
    ImageBatch batch;
    for (const Draw& draw : draws) {
      std::int32_t b = 0;
      while (draw.sample >= blocks_[static_cast<std::size_t>(b)].first_sample +
                                blocks_[static_cast<std::size_t>(b)].num_samples) {
        ++b;
      }
      const auto block = blocks.get_as<ImageBlock>(b);
      const auto row =
          static_cast<std::size_t>(draw.sample - blocks_[static_cast<std::size_t>(b)].first_sample);
      for (std::size_t p = 0; p < kPixels; ++p) {
        const auto shade = static_cast<unsigned char>(epoch);  // in place of an augmentation
        batch.pixels.push_back(
            static_cast<unsigned char>(block->pixels[row * kPixels + p] + shade));
      }
      batch.id.push_back(draw.sample);
      batch.weight.push_back(draw.weight);
    }
    return batch;
  }

  std::atomic<std::int32_t> damaged_block = -1;

 private:
  std::vector<SampleBlock> blocks_;
};

class ImageData : public testing::Test {
 protected:
  [[nodiscard]] LoaderOptions options(std::int64_t workers, std::int64_t rank = 0,
                                      std::int64_t ranks = 1) const {
    LoaderOptions options{.data = {}, .seed = 5, .rank = rank, .world_size = ranks};
    options.data.batch_size = 4;
    options.data.shuffle_chunks = 2;
    options.data.drop_last = false;
    options.data.num_workers = workers;
    return options;
  }

  static std::vector<ImageBatch> epoch(DataLoader<ImageBatch>& loader, std::int64_t number) {
    loader.start_epoch(number);
    std::vector<ImageBatch> batches;
    while (auto batch = loader.next()) batches.push_back(std::move(*batch));
    return batches;
  }

  std::shared_ptr<Images> images_ =
      std::make_shared<Images>(std::vector<std::int64_t>{9, 1, 14, 6, 11, 3, 8});
};

TEST_F(ImageData, IsReadOncePerEpochOverAllRanksAndThreads) {
  for (const std::int64_t ranks : {1, 3}) {
    for (const std::int64_t workers : {0, 2}) {
      std::map<std::int64_t, int> counts;
      for (std::int64_t r = 0; r < ranks; ++r) {
        DataLoader<ImageBatch> loader(images_, options(workers, r, ranks));
        for (const ImageBatch& batch : epoch(loader, 1)) {
          for (std::size_t i = 0; i < batch.id.size(); ++i) {
            if (batch.weight[i] > 0) ++counts[batch.id[i]];
            for (std::size_t p = 0; p < kPixels; ++p) {
              const auto expected = static_cast<unsigned char>(pixel(batch.id[i], p) + 1);
              ASSERT_EQ(batch.pixels[i * kPixels + p], expected);
            }
          }
        }
      }
      EXPECT_EQ(static_cast<std::int64_t>(counts.size()), images_->num_samples());
      for (const auto& [image, times] : counts) EXPECT_EQ(times, 1) << image;
    }
  }
}

TEST_F(ImageData, IsShuffledDecodedOnceAndResumed) {
  DataLoader<ImageBatch> whole(images_, options(0));
  const auto batches = epoch(whole, 2);
  EXPECT_EQ(whole.blocks_decoded(), static_cast<std::int64_t>(images_->blocks().size()));
  std::vector<std::int64_t> order;
  for (const ImageBatch& batch : batches) {
    order.insert(order.end(), batch.id.begin(), batch.id.end());
  }
  EXPECT_FALSE(std::is_sorted(order.begin(), order.end()));
  DataLoader<ImageBatch> cut(images_, options(2));
  cut.start_epoch(2);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(cut.next().has_value());
  DataLoader<ImageBatch> resumed(images_, options(1));
  resumed.restore(cut.state());
  for (std::size_t i = 3; i < batches.size(); ++i) EXPECT_EQ(resumed.next()->id, batches[i].id);
  EXPECT_FALSE(resumed.next().has_value());
}

TEST_F(ImageData, ADamagedBlockIsReportedOnEveryRead) {
  images_->damaged_block = 4;
  for (const std::int64_t workers : {0, 2}) {
    DataLoader<ImageBatch> loader(images_, options(workers));
    EXPECT_THROW(epoch(loader, 0), DataError);
    for (int i = 0; i < 3; ++i) EXPECT_THROW(static_cast<void>(loader.next()), DataError);
  }
}

TEST_F(ImageData, AnErrorWithoutSamplesNamesSourceAndRemedy) {
  const auto none = std::make_shared<Images>(std::vector<std::int64_t>{});
  try {
    DataLoader<ImageBatch> loader(none, options(0));
    FAIL() << "expected an error: there are no samples";
  } catch (const DataError& error) {
    EXPECT_STREQ(error.what(), "the album has no samples; take some pictures");
  }
}

}  // namespace
}  // namespace traffic::data
