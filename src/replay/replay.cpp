// Replay: stores the newest experience in a ring of segments, and draws transitions from it.
#include "traffic/replay/replay.h"

#include <algorithm>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::replay {

std::int64_t ReplayOptions::max_segments() const {
  const std::int64_t of_segment = segment.steps * segment.streams;
  constexpr std::int64_t kMinimum = 2;  // a segment that is being filled, and a full segment
  return std::max(kMinimum, (capacity + of_segment - 1) / of_segment);
}

Replay::Replay(const ReplayOptions& options) : options_(options) {
  TRAFFIC_CHECK(options_.segment.steps > 0 && options_.segment.streams > 0,
                "a replay has segments of {} steps and {} streams, expected at least 1 of each",
                options_.segment.steps, options_.segment.streams);
}

void Replay::begin_anew() {
  if (!segments_.empty() && !segments_.back()->is_full()) {
    num_steps_ -= segments_.back()->filled();
    segments_.pop_back();
  }
  continues_ = false;
}

void Replay::push(const Step& step) {
  if (segments_.empty() || segments_.back()->is_full()) add_segment();
  segments_.back()->push(step);
  ++num_steps_;
  continues_ = true;
}

/// Adds an empty segment. If the ring is full, removes the oldest segment, and the new segment
/// takes over its memory. If a caller of segments() still holds the oldest segment, the new segment
/// gets new memory.
void Replay::add_segment() {
  std::shared_ptr<Segment> segment;
  if (std::ssize(segments_) >= options_.max_segments()) {
    segment = std::move(segments_.front());
    segments_.pop_front();
    ++num_forgotten_;
    num_steps_ -= segment->filled();
    if (segment.use_count() > 1) segment.reset();
  }
  if (segment) {
    segment->clear(continues_);
  } else {
    segment = std::make_shared<Segment>(options_.segment, continues_);
  }
  segments_.push_back(std::move(segment));
}

std::int64_t Replay::num_drawable(std::int64_t n_step) const {
  return std::max<std::int64_t>(0, num_steps_ - n_step) * options_.segment.streams;
}

/// Whether begin_anew() marked a gap between a step and the n-th step after it, so that the later
/// step does not continue the earlier one.
bool Replay::has_gap_within(std::int64_t step, std::int64_t n_step) const {
  const std::int64_t segment = step / options_.segment.steps;
  const std::int64_t last = (step + n_step) / options_.segment.steps;
  return last != segment && !segments_[static_cast<std::size_t>(last)]->continues();
}

void Replay::draw(const Returns& returns, Rng& rng, const Transitions& out) const {
  const SegmentShape& shape = options_.segment;
  const std::size_t count = out.actions.size();
  const auto numbers = [&](std::int64_t dim) { return count * static_cast<std::size_t>(dim); };
  TRAFFIC_CHECK(
      out.obs.size() == numbers(shape.obs_dim) && out.next_obs.size() == numbers(shape.obs_dim) &&
          out.action_vectors.size() == numbers(shape.action_dim) && out.returns.size() == count &&
          out.discounts.size() == count,
      "the spans do not have the sizes for {} transitions with observations of {} and action "
      "vectors of {} numbers",
      count, shape.obs_dim, shape.action_dim);
  TRAFFIC_CHECK(returns.n_step >= 1 && returns.n_step < shape.steps,
                "n_step is {}, expected at least 1 and less than the {} steps of a segment",
                returns.n_step, shape.steps);
  TRAFFIC_CHECK(num_drawable(returns.n_step) > 0,
                "no transition can be drawn, because the replay has only {} steps", num_steps_);
  std::vector<Place> places(count);
  for (Place& place : places) place = draw_place(returns, rng);
  // Transitions are far apart in memory. While one is read, the CPU fetches the next kAhead ones.
  constexpr std::size_t kAhead = 8;
  constexpr int kMostTries = 100'000;
  for (std::size_t row = 0; row < count + kAhead; ++row) {
    if (row < count) prefetch(places[row], returns.n_step);
    if (row < kAhead) continue;
    Place place = places[row - kAhead];
    for (int tries = 0; !fill(returns, place, row - kAhead, out); ++tries) {
      TRAFFIC_CHECK(
          tries < kMostTries,
          "100,000 draws found no transition of {} steps: each drawn episode was truncated within "
          "these steps",
          returns.n_step);
      place = draw_place(returns, rng);
    }
  }
}

Replay::Place Replay::draw_place(const Returns& returns, Rng& rng) const {
  const auto drawable = static_cast<std::uint64_t>(num_drawable(returns.n_step));
  Place place{};
  do {
    const auto drawn = static_cast<std::int64_t>(rng.uniform_int(drawable));
    place = {.step = drawn / options_.segment.streams, .stream = drawn % options_.segment.streams};
  } while (has_gap_within(place.step, returns.n_step));
  return place;
}

void Replay::prefetch(Place place, std::int64_t n_step) const {
  const std::int64_t steps = options_.segment.steps;
  const Segment& first = segment_of(place.step);
  first.prefetch_obs(place.step % steps, place.stream);
  for (std::int64_t step = place.step; step < place.step + n_step; ++step) {
    segment_of(step).prefetch_outcome(step % steps, place.stream);
  }
  const std::int64_t next = place.step + n_step;
  segment_of(next).prefetch_obs(next % steps, place.stream);
}

/// Writes one transition to a row of `out`.
/// @return false if the episode was truncated within the n steps. The return and the next
///   observation are then not known, and the row is only partly written.
bool Replay::fill(const Returns& returns, Place place, std::size_t row,
                  const Transitions& out) const {
  const SegmentShape& shape = options_.segment;
  const Segment* segment = &segment_of(place.step);
  std::int64_t step = place.step % shape.steps;
  out.actions[row] = segment->action(step, place.stream);
  widen(segment->obs(step, place.stream), shape.obs_dim,
        out.obs.data() + row * static_cast<std::size_t>(shape.obs_dim));
  if (shape.action_dim > 0) {
    widen(segment->action_vector(step, place.stream), shape.action_dim,
          out.action_vectors.data() + row * static_cast<std::size_t>(shape.action_dim));
  }
  double sum = 0.0;
  double discount = 1.0;
  for (std::int64_t k = 0; k < returns.n_step; ++k) {
    sum += discount * static_cast<double>(segment->reward(step, place.stream));
    const std::uint8_t end = segment->end(step, place.stream);
    if (end == kTruncated) return false;
    discount *= end == kTerminated ? 0.0 : returns.gamma;
    if (++step == shape.steps) {
      segment = &segment_of(place.step + k + 1);
      step = 0;
    }
    if (discount == 0.0) break;
  }
  out.returns[row] = static_cast<float>(sum);
  out.discounts[row] = static_cast<float>(discount);
  widen(segment->obs(step, place.stream), shape.obs_dim,
        out.next_obs.data() + row * static_cast<std::size_t>(shape.obs_dim));
  return true;
}

Replay::Segments Replay::segments() const {
  Segments all(segments_.begin(), segments_.end());
  if (!all.empty() && !all.back()->is_full()) all.back() = std::make_shared<Segment>(*all.back());
  return all;
}

void Replay::restore(const Segments& segments) {
  segments_.clear();
  num_steps_ = 0;
  num_forgotten_ = 0;
  const auto most = static_cast<std::size_t>(options_.max_segments());
  const std::size_t first = segments.size() > most ? segments.size() - most : 0;
  for (std::size_t i = first; i < segments.size(); ++i) {
    const Segment& segment = *segments[i];
    TRAFFIC_CHECK(segment.shape() == options_.segment,
                  "a segment does not have the shape of this replay");
    TRAFFIC_CHECK(segment.is_full() || i + 1 == segments.size(),
                  "segment {} of {} has only {} of {} steps; only the last one may be incomplete",
                  i, segments.size(), segment.filled(), segment.shape().steps);
    segments_.push_back(std::make_shared<Segment>(segment));
    num_steps_ += segment.filled();
  }
  continues_ = !segments_.empty();
}

}  // namespace traffic::replay
