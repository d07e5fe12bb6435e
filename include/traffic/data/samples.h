/// SampleIndex tells the sampler which samples a data set has. Samples have numbers, from 0. A
/// block is a group of samples with consecutive numbers that are read and decoded together.
#pragma once

#include <cstdint>
#include <span>
#include <string>

namespace traffic::data {

/// A group of consecutive samples that are read and decoded together.
struct SampleBlock {
  std::int64_t first_sample = 0;
  std::int64_t num_samples = 0;
  std::int64_t decoded_bytes = 0;
};

/// One entry of a batch: a sample that the sampler has drawn.
struct Draw {
  std::int64_t sample = 0;
  float weight = 1;  ///< 0 for a repeated sample that fills a batch which would be empty
  bool operator==(const Draw&) const = default;
};

/// Each kind of data implements it. Immutable after construction and thread-safe.
class SampleIndex {
 public:
  virtual ~SampleIndex() = default;

  /// The blocks in the order of their samples, without gaps; the first begins with sample 0.
  [[nodiscard]] virtual std::span<const SampleBlock> blocks() const = 0;
  /// Position on the road that a sample shows, from 0 to 1. Near numbers mean near positions. Data
  /// without positions return 0 for all samples.
  [[nodiscard]] virtual double region(std::int64_t /*sample*/) const { return 0; }
  /// Hash of the samples and their numbers. Two indices with the same fingerprint give every sample
  /// the same number. It is compared between ranks and with checkpoints.
  [[nodiscard]] virtual std::uint64_t fingerprint() const = 0;
  /// Name for messages, e.g. "the train split".
  [[nodiscard]] virtual std::string name() const = 0;
  /// Text for the error that there are no samples: where the samples should come from, and what
  /// that source must contain.
  [[nodiscard]] virtual std::string advice_when_empty() const = 0;

  [[nodiscard]] std::int64_t num_samples() const {
    return blocks().empty() ? 0 : blocks().back().first_sample + blocks().back().num_samples;
  }
};

}  // namespace traffic::data
