/// The sampler's view of a data set: samples, and the blocks that they are decoded in. Samples are
/// numbered block by block.
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

/// Immutable after construction and thread-safe.
class SampleIndex {
 public:
  virtual ~SampleIndex() = default;

  /// The blocks in the order of their samples, without gaps; the first begins with sample 0.
  [[nodiscard]] virtual std::span<const SampleBlock> blocks() const = 0;
  /// Position on the road that a sample shows, from 0 to 1; near numbers mean near positions. Data
  /// without positions return 0 for all samples.
  [[nodiscard]] virtual double region(std::int64_t /*sample*/) const { return 0; }
  /// Ranks, checkpoints and runs with the same value number their samples alike.
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
  /// Name for messages, e.g. "the train split".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Advice for the case that there is no sample: the source of the samples, and what the source
  /// must contain.
  [[nodiscard]] virtual std::string advice_when_empty() const = 0;

  [[nodiscard]] std::int64_t num_samples() const {
    return blocks().empty() ? 0 : blocks().back().first_sample + blocks().back().num_samples;
  }
};

}  // namespace traffic::data
