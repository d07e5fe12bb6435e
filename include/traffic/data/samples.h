/// What the sampler knows of a data set: samples, and the blocks that they are decoded in. Whatever
/// a sample is, its numbers follow those of the blocks.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace traffic::data {

/// Samples that are read and decoded together.
struct SampleBlock {
  std::int64_t first_sample = 0;
  std::int64_t num_samples = 0;
  std::int64_t decoded_bytes = 0;
};

/// A sample of a batch.
struct Draw {
  std::int64_t sample = 0;
  float weight = 1;  ///< 0: fills a batch that would be empty
  bool operator==(const Draw&) const = default;
};

/// Immutable after construction; may be used by several threads.
class SampleIndex {
 public:
  virtual ~SampleIndex() = default;

  /// In order and without gaps; the first has sample 0.
  [[nodiscard]] virtual std::span<const SampleBlock> blocks() const = 0;
  /// Which part of the road a sample is of, from 0 to 1: near each other, near on the road. Data
  /// without places have one part.
  [[nodiscard]] virtual double region(std::int64_t /*sample*/) const { return 0; }
  /// Two ranks, or a checkpoint and a run, with the same value number their samples alike.
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
  /// What messages call it, e.g. "the train split".
  [[nodiscard]] virtual std::string name() const = 0;
  /// What to look at when there is no sample: where it was looked for, what one needs.
  [[nodiscard]] virtual std::string advice_when_empty() const = 0;

  [[nodiscard]] std::int64_t num_samples() const {
    return blocks().empty() ? 0 : blocks().back().first_sample + blocks().back().num_samples;
  }
};

}  // namespace traffic::data
