/// BatchSource: the interface between the loader (loader.h) and one kind of data. Each kind of data
/// implements it. Several threads of the loader call it to make batches of the samples that the
/// sampler has chosen.
#pragma once

#include <any>
#include <cstdint>
#include <memory>
#include <span>

#include "traffic/data/samples.h"

namespace traffic::data {

/// The decoded data of a block, which is a group of samples that are read together (samples.h).
/// Each kind of data derives a class of its own.
class Block {
 public:
  virtual ~Block() = default;
};

class BlockCache;

/// The part of BatchSource that does not depend on the type of the batches. Immutable after
/// construction and thread-safe. Results depend on the arguments only.
class AnyBatchSource {
 public:
  virtual ~AnyBatchSource() = default;

  /// The samples, and the blocks that contain them.
  [[nodiscard]] virtual const SampleIndex& index() const = 0;
  /// Reads and decodes a block of the index.
  /// @throws DataError if the block is damaged
  [[nodiscard]] virtual std::shared_ptr<const Block> decode(std::int32_t block) const = 0;
  /// Same as BatchSource::build(), for a loader that does not know the type of the batch.
  [[nodiscard]] virtual std::any build_any(std::span<const Draw> draws, std::int64_t epoch,
                                           BlockCache& blocks) const = 0;
  /// Memory of a batch that build_any() has made, in bytes.
  [[nodiscard]] virtual std::int64_t bytes_of_any(const std::any& batch) const = 0;
};

/// A source whose batches have the type B. B must have a function num_bytes().
template <typename B>
class BatchSource : public AnyBatchSource {
 public:
  /// Builds a batch of the samples in `draws`.
  /// @param epoch decides the random changes of the samples (augmentation)
  /// @param blocks cache of the decoded blocks of this source
  /// @throws DataError if a block is damaged
  [[nodiscard]] virtual B build(std::span<const Draw> draws, std::int64_t epoch,
                                BlockCache& blocks) const = 0;

  [[nodiscard]] std::any build_any(std::span<const Draw> draws, std::int64_t epoch,
                                   BlockCache& blocks) const final {
    return build(draws, epoch, blocks);
  }
  [[nodiscard]] std::int64_t bytes_of_any(const std::any& batch) const final {
    return std::any_cast<const B&>(batch).num_bytes();
  }
};

}  // namespace traffic::data
