/// The replay buffer of a rank (an MPI process) for off-policy learners: it stores the newest
/// experience and draws transitions from it. A replay has one stream for each agent of the rank:
/// the sequence of this agent's steps. The steps of all streams are kept in a ring of segments.
///
///     Replay make_replay() {
///       const SegmentShape segment{.steps = 64, .streams = 192, .obs_dim = 61};
///       return Replay({.capacity = 400'000, .segment = segment});
///     }
///
///     /// @param step one step of all streams
///     void push_and_draw(Replay& replay, const Step& step, Rng& rng, const Transitions& batch) {
///       replay.push(step);
///       if (replay.num_drawable(3) >= 512) replay.draw({.n_step = 3, .gamma = 0.97}, rng, batch);
///     }
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <span>
#include <vector>

#include "traffic/core/random.h"
#include "traffic/replay/segment.h"

namespace traffic::replay {

struct ReplayOptions {
  std::int64_t capacity = 100'000;  ///< number of transitions, rounded up to whole segments; at
                                    ///< least two segments
  SegmentShape segment;

  [[nodiscard]] std::int64_t max_segments() const;
  [[nodiscard]] std::int64_t bytes() const { return max_segments() * segment.bytes(); }
};

/// How transitions are computed from steps.
struct Returns {
  std::int64_t n_step = 1;  ///< number of steps of a transition; less than SegmentShape::steps
  double gamma = 0.99;      ///< discount per step
};

/// Memory of the caller for `count` drawn transitions, one row each.
struct Transitions {
  std::span<float> obs;             ///< [count, obs_dim]
  std::span<std::int64_t> actions;  ///< [count]
  std::span<float> action_vectors;  ///< [count, action_dim]
  std::span<float> returns;         ///< [count] discounted sum of the rewards before next_obs
  std::span<float>
      discounts;  ///< [count] factor of the value of next_obs: gamma^n_step; 0 if the episode ended
  std::span<float> next_obs;  ///< [count, obs_dim]; meaningless where the discount is 0
};

/// The replay buffer of one rank. Not thread-safe.
class Replay {
 public:
  explicit Replay(const ReplayOptions& options);

  [[nodiscard]] const ReplayOptions& options() const { return options_; }
  /// Appends one step of all streams. The oldest segment is discarded if the ring is full.
  void push(const Step& step);
  /// Number of kept steps, times the number of streams.
  [[nodiscard]] std::int64_t size() const { return num_steps_ * options_.segment.streams; }
  /// Number of segments that were discarded since the replay was made or restored.
  [[nodiscard]] std::int64_t num_forgotten() const { return num_forgotten_; }
  /// Number of kept transitions, without those that begin in the newest n_step steps. It includes
  /// transitions that draw() rejects, such as those that span a gap (see begin_anew()).
  [[nodiscard]] std::int64_t num_drawable(std::int64_t n_step) const;

  /// Draws transitions with replacement and equal probability. It never draws a transition that
  /// begins in one of the newest n_step steps or spans a gap. It also rejects a transition whose
  /// episode is truncated within its n_step steps.
  /// @param out gets as many transitions as out.actions has entries
  /// @throws Error if none can be drawn, or sizes differ
  void draw(const Returns& returns, Rng& rng, const Transitions& out) const;

  using Segments = std::vector<std::shared_ptr<const Segment>>;
  /// All segments, oldest first. All but the last are full and do not change while the caller holds
  /// them. If the last one is not full, it is a copy.
  [[nodiscard]] Segments segments() const;
  /// Replaces all segments. If there are more than max_segments(), keeps the newest ones.
  /// @throws Error if a segment has another shape, or if one other than the last is not full
  void restore(const Segments& segments);
  /// Marks a gap: the next step that is pushed does not continue the last one. Gaps lie between
  /// segments, so this function discards the newest segment if it is not full.
  void begin_anew();

 private:
  /// A step of one stream.
  struct Place {
    std::int64_t step;
    std::int64_t stream;
  };
  [[nodiscard]] const Segment& segment_of(std::int64_t step) const {
    return *segments_[static_cast<std::size_t>(step / options_.segment.steps)];
  }
  [[nodiscard]] bool has_gap_within(std::int64_t step, std::int64_t n_step) const;
  void add_segment();
  void prefetch(Place place, std::int64_t n_step) const;
  [[nodiscard]] Place draw_place(const Returns& returns, Rng& rng) const;
  bool fill(const Returns& returns, Place place, std::size_t row, const Transitions& out) const;

  ReplayOptions options_;
  std::deque<std::shared_ptr<Segment>> segments_;
  std::int64_t num_steps_ = 0;
  std::int64_t num_forgotten_ = 0;
  bool continues_ = false;  ///< whether the next step continues the last one
};

}  // namespace traffic::replay
