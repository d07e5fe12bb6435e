/// Damage that is found in mid-training: samples of a block that cannot be decoded are replaced by
/// those of another block, up to a share of all samples.
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

/// Thread-safe. Which sample takes the place of which depends on the damage only: reader threads,
/// ranks and resumed runs draw alike, as long as the damage is the same.
class BadBlocks {
 public:
  /// @param index must outlive this
  /// @param allowed_share of the samples that may lie in blocks which cannot be decoded
  BadBlocks(const SampleIndex& index, double allowed_share)
      : index_(index), allowed_share_(allowed_share) {}

  /// Decodes the blocks of the draws.
  /// @return the draws, those of bad blocks replaced
  /// @throws DataError where more is damaged than allowed
  [[nodiscard]] std::vector<Draw> replace(std::span<const Draw> draws, BlockCache& cache);

  /// What was found since the last time it was asked for: a message for each bad block.
  [[nodiscard]] std::vector<std::string> take_messages();
  [[nodiscard]] std::int64_t num_found() const;

 private:
  [[nodiscard]] bool is_bad(std::size_t block, BlockCache& cache);
  void add(std::size_t block, const std::string& why);

  const SampleIndex& index_;
  double allowed_share_;
  mutable std::mutex mutex_;
  std::map<std::size_t, std::string> found_;
  std::vector<std::string> messages_;
  std::int64_t bad_samples_ = 0;
};

}  // namespace traffic::data
