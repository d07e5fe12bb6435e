/// BadBlocks lets training continue when blocks of the data set (groups of samples that are read
/// together) cannot be decoded. It replaces their samples by samples of other blocks. It throws if
/// the damaged blocks hold more than a share of all samples (data.max_bad_file_share).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "traffic/data/block_cache.h"
#include "traffic/data/samples.h"

namespace traffic::data {

/// Thread-safe. The replacements depend only on which blocks are damaged. They are the same for all
/// reader threads and ranks, and after a run has been resumed.
class BadBlocks {
 public:
  /// @param index must outlive this object
  /// @param allowed_share largest share of the samples in blocks that cannot be decoded
  BadBlocks(const SampleIndex& index, double allowed_share)
      : index_(index), allowed_share_(allowed_share) {}

  /// Decodes the blocks of the draws, i.e. of the samples that the sampler has chosen for a batch.
  /// @return the draws, with replacements for samples of bad blocks
  /// @throws DataError if the damaged blocks exceed the allowed share
  [[nodiscard]] std::vector<Draw> replace(std::span<const Draw> draws, BlockCache& cache);

  /// Messages on the bad blocks that were found since the last call.
  [[nodiscard]] std::vector<std::string> take_messages();
  [[nodiscard]] std::int64_t num_found() const;

 private:
  [[nodiscard]] bool is_bad(std::size_t block, BlockCache& cache);
  void add(std::size_t block, const std::string& why);

  const SampleIndex& index_;
  double allowed_share_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::string> found_;  ///< error message of each damaged block
  std::vector<std::string> messages_;
  std::int64_t bad_samples_ = 0;  ///< number of samples in the damaged blocks
};

}  // namespace traffic::data
