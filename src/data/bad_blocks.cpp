// Replaces samples of damaged blocks by samples of other blocks (bad_blocks.h).
#include "bad_blocks.h"

#include <algorithm>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::data {

std::vector<Draw> BadBlocks::replace(std::span<const Draw> draws, BlockCache& cache) {
  std::vector<Draw> replaced(draws.begin(), draws.end());
  const std::span<const SampleBlock> blocks = index_.blocks();
  for (Draw& draw : replaced) {
    const auto after = std::upper_bound(
        blocks.begin(), blocks.end(), draw.sample,
        [](std::int64_t sample, const SampleBlock& block) { return sample < block.first_sample; });
    auto block = static_cast<std::size_t>(after - blocks.begin()) - 1;
    const std::int64_t place = draw.sample - blocks[block].first_sample;
    // The loop ends at an undamaged block. If there is none, add() in is_bad() throws.
    while (is_bad(block, cache)) {
      block = (block + 1) % blocks.size();
      draw.sample = blocks[block].first_sample + place % blocks[block].num_samples;
    }
  }
  return replaced;
}

bool BadBlocks::is_bad(std::size_t block, BlockCache& cache) {
  {
    const std::lock_guard lock(mutex_);
    if (found_.contains(block)) return true;
  }
  try {
    (void)cache.get(static_cast<std::int32_t>(block));
    return false;
  } catch (const DataError& error) {
    add(block, error.what());
    return true;
  }
}

void BadBlocks::add(std::size_t block, const std::string& why) {
  const std::lock_guard lock(mutex_);
  if (!found_.emplace(block, why).second) return;
  messages_.push_back(why);
  bad_samples_ += index_.blocks()[block].num_samples;
  const double share =
      static_cast<double>(bad_samples_) / static_cast<double>(index_.num_samples());
  if (share <= allowed_share_) return;
  // Removes the block from found_, so that a second call finds it again and throws again.
  found_.erase(block);
  bad_samples_ -= index_.blocks()[block].num_samples;
  throw DataError(
      "a share of {:.2g} of the samples of {} cannot be read, but data.max_bad_file_share allows a "
      "share of {}; the last error: {}",
      share, index_.name(), allowed_share_, why);
}

std::vector<std::string> BadBlocks::take_messages() {
  const std::lock_guard lock(mutex_);
  return std::exchange(messages_, {});
}

std::int64_t BadBlocks::num_found() const {
  const std::lock_guard lock(mutex_);
  return static_cast<std::int64_t>(found_.size());
}

}  // namespace traffic::data
