/// A segment stores consecutive steps of all streams of a rank; a stream is the sequence of steps
/// of one agent. A replay consists of segments, and a checkpoint stores each segment in a file.
///
/// The files lie beside the checkpoint and have this content (little-endian):
///
///   "TRAFRPLY"       8 bytes
///   u32 version = 1, u32 continues (1: its first step continues the preceding segment)
///   i64 steps, streams, obs_dim, action_dim, filled
///   u16 obs            [filled, streams, obs_dim]     IEEE half
///   u16 action vectors [filled, streams, action_dim]  IEEE half
///   f32 rewards        [filled, streams]
///   u8  actions        [filled, streams]
///   u8  ends           [filled, streams]
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "traffic/os/page_allocator.h"

namespace traffic::replay {

struct SegmentShape {
  std::int64_t steps = 64;      ///< steps of each stream
  std::int64_t streams = 1;     ///< number of agents that act at the same time
  std::int64_t obs_dim = 1;     ///< size of an observation
  std::int64_t action_dim = 0;  ///< size of an action vector, stored beside the action's index

  bool operator==(const SegmentShape&) const = default;
  /// Bytes in memory; a file has a header in addition.
  [[nodiscard]] std::int64_t bytes() const;
};

/// Whether and how a step ends its episode.
enum End : std::uint8_t {
  kGoesOn = 0,
  kTerminated = 1,  ///< the episode has ended; no reward follows
  kTruncated = 2,   ///< the episode was cut off: the next state is not known
};

/// One step of all streams, in their order.
struct Step {
  std::span<const float> obs;             ///< [streams, obs_dim] observations
  std::span<const std::uint8_t> actions;  ///< [streams] actions by index
  std::span<const float> action_vectors;  ///< [streams, action_dim] actions as vectors
  std::span<const float> rewards;         ///< [streams]
  std::span<const std::uint8_t> ends;     ///< [streams] each an End
};

/// A segment is filled step by step and does not change once it is full.
class Segment {
 public:
  /// @param continues whether its first step continues the last step of the preceding segment
  Segment(const SegmentShape& shape, bool continues);

  [[nodiscard]] const SegmentShape& shape() const { return shape_; }
  [[nodiscard]] bool continues() const { return continues_; }
  [[nodiscard]] std::int64_t filled() const { return filled_; }
  [[nodiscard]] bool is_full() const { return filled_ == shape_.steps; }

  /// Empties the segment.
  void clear(bool continues);
  void set_continues(bool continues) { continues_ = continues; }
  /// @throws Error if the segment is full or the step has another shape
  void push(const Step& step);

  // Values of one step of one stream. The step must be below filled(); this is not checked.
  // Pointers refer to half-precision numbers.
  [[nodiscard]] const std::uint16_t* obs(std::int64_t step, std::int64_t stream) const {
    return obs_.data() + at(step, stream) * static_cast<std::size_t>(shape_.obs_dim);
  }
  [[nodiscard]] const std::uint16_t* action_vector(std::int64_t step, std::int64_t stream) const {
    return action_vectors_.data() + at(step, stream) * static_cast<std::size_t>(shape_.action_dim);
  }
  [[nodiscard]] std::uint8_t action(std::int64_t step, std::int64_t stream) const {
    return actions_[at(step, stream)];
  }
  [[nodiscard]] float reward(std::int64_t step, std::int64_t stream) const {
    return rewards_[at(step, stream)];
  }
  [[nodiscard]] std::uint8_t end(std::int64_t step, std::int64_t stream) const {
    return ends_[at(step, stream)];
  }

  // Prefetch the values of a step that is read soon.
  void prefetch_obs(std::int64_t step, std::int64_t stream) const;
  void prefetch_outcome(std::int64_t step, std::int64_t stream) const;

  [[nodiscard]] std::vector<std::byte> to_bytes() const;
  /// Reads bytes of unknown origin.
  /// @throws CheckpointError if the bytes are not a segment of this shape
  static Segment from_bytes(std::span<const std::byte> bytes, const SegmentShape& shape);

 private:
  [[nodiscard]] std::size_t at(std::int64_t step, std::int64_t stream) const {
    return static_cast<std::size_t>(step * shape_.streams + stream);
  }

  SegmentShape shape_;
  bool continues_;
  std::int64_t filled_ = 0;
  os::HugePageVector<std::uint16_t> obs_;
  std::vector<std::uint16_t> action_vectors_;
  std::vector<float> rewards_;
  std::vector<std::uint8_t> actions_;
  std::vector<std::uint8_t> ends_;
};

/// Converts half-precision numbers to floats.
void widen(const std::uint16_t* halves, std::int64_t count, float* out);

}  // namespace traffic::replay
