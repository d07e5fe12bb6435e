// Segment: stores consecutive steps, with observations and actions as 16-bit floats (segment.h).
#include "traffic/replay/segment.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

#include "traffic/core/error.h"
#include "traffic/core/float16.h"
#include "traffic/core/vectorised.h"

namespace traffic::replay {
namespace {

constexpr std::string_view kMagic = "TRAFRPLY";
constexpr std::uint32_t kVersion = 1;

struct Header {
  std::array<char, 8> magic{};
  std::uint32_t version = kVersion;
  std::uint32_t continues = 0;
  std::int64_t steps = 0;
  std::int64_t streams = 0;
  std::int64_t obs_dim = 0;
  std::int64_t action_dim = 0;
  std::int64_t filled = 0;
};
static_assert(sizeof(Header) == 56);

TRAFFIC_VECTORISED void widen_all(const std::uint16_t* __restrict halves, std::int64_t count,
                                  float* __restrict out) {
  for (std::int64_t i = 0; i < count; ++i) out[i] = half_to_float(halves[i]);
}

TRAFFIC_VECTORISED void narrow_all(const float* __restrict in, std::int64_t count,
                                   std::uint16_t* __restrict halves) {
  for (std::int64_t i = 0; i < count; ++i) halves[i] = float_to_half(in[i]);
}

template <typename Values>
void append(std::vector<std::byte>& bytes, const Values& values, std::int64_t count) {
  const auto part = std::as_bytes(std::span(values).first(static_cast<std::size_t>(count)));
  bytes.insert(bytes.end(), part.begin(), part.end());
}

template <typename Values>
void take(std::span<const std::byte>& bytes, Values& values, std::int64_t count) {
  const std::size_t size = static_cast<std::size_t>(count) * sizeof(values[0]);
  if (size > 0) std::memcpy(values.data(), bytes.data(), size);
  bytes = bytes.subspan(size);
}

std::size_t product(std::int64_t a, std::int64_t b, std::int64_t c = 1) {
  return static_cast<std::size_t>(a * b * c);
}

/// Bytes of one step of one stream (the steps of one agent).
std::int64_t bytes_of_step(const SegmentShape& shape) {
  constexpr std::int64_t kHalf = sizeof(std::uint16_t);
  constexpr std::int64_t kActionAndEnd = 2;
  return kHalf * (shape.obs_dim + shape.action_dim) + static_cast<std::int64_t>(sizeof(float)) +
         kActionAndEnd;
}

}  // namespace

std::int64_t SegmentShape::bytes() const { return steps * streams * bytes_of_step(*this); }

void widen(const std::uint16_t* halves, std::int64_t count, float* out) {
  widen_all(halves, count, out);
}

Segment::Segment(const SegmentShape& shape, bool continues)
    : shape_(shape),
      continues_(continues),
      obs_(product(shape.steps, shape.streams, shape.obs_dim)),
      action_vectors_(product(shape.steps, shape.streams, shape.action_dim)),
      rewards_(product(shape.steps, shape.streams)),
      actions_(rewards_.size()),
      ends_(rewards_.size()) {}

void Segment::prefetch_obs(std::int64_t step, std::int64_t stream) const {
  constexpr std::int64_t kNumbersOfLine = 32;
  const std::uint16_t* first = obs(step, stream);
  for (std::int64_t i = 0; i < shape_.obs_dim; i += kNumbersOfLine) __builtin_prefetch(first + i);
  __builtin_prefetch(first + shape_.obs_dim - 1);
}

void Segment::prefetch_outcome(std::int64_t step, std::int64_t stream) const {
  __builtin_prefetch(rewards_.data() + at(step, stream));
  __builtin_prefetch(ends_.data() + at(step, stream));
  __builtin_prefetch(actions_.data() + at(step, stream));
}

void Segment::clear(bool continues) {
  continues_ = continues;
  filled_ = 0;
}

void Segment::push(const Step& step) {
  const auto streams = static_cast<std::size_t>(shape_.streams);
  TRAFFIC_CHECK(!is_full(), "no step can be added: the segment already has its {} steps",
                shape_.steps);
  TRAFFIC_CHECK(step.obs.size() == product(shape_.streams, shape_.obs_dim) &&
                    step.action_vectors.size() == product(shape_.streams, shape_.action_dim) &&
                    step.actions.size() == streams && step.rewards.size() == streams &&
                    step.ends.size() == streams,
                "a step has observations of {} numbers, {} actions and {} rewards, expected {} "
                "streams with observations of {} numbers",
                step.obs.size(), step.actions.size(), step.rewards.size(), shape_.streams,
                shape_.obs_dim);
  const std::size_t first = at(filled_, 0);
  narrow_all(step.obs.data(), shape_.streams * shape_.obs_dim,
             obs_.data() + first * static_cast<std::size_t>(shape_.obs_dim));
  narrow_all(step.action_vectors.data(), shape_.streams * shape_.action_dim,
             action_vectors_.data() + first * static_cast<std::size_t>(shape_.action_dim));
  std::ranges::copy(step.rewards, rewards_.begin() + static_cast<std::ptrdiff_t>(first));
  std::ranges::copy(step.actions, actions_.begin() + static_cast<std::ptrdiff_t>(first));
  std::ranges::copy(step.ends, ends_.begin() + static_cast<std::ptrdiff_t>(first));
  ++filled_;
}

std::vector<std::byte> Segment::to_bytes() const {
  Header header{.continues = continues_ ? 1U : 0U,
                .steps = shape_.steps,
                .streams = shape_.streams,
                .obs_dim = shape_.obs_dim,
                .action_dim = shape_.action_dim,
                .filled = filled_};
  std::ranges::copy(kMagic, header.magic.begin());
  const auto of_header = std::as_bytes(std::span(&header, 1));
  std::vector<std::byte> bytes(of_header.begin(), of_header.end());
  const std::int64_t count = filled_ * shape_.streams;
  bytes.reserve(sizeof(Header) + static_cast<std::size_t>(count * bytes_of_step(shape_)));
  append(bytes, obs_, count * shape_.obs_dim);
  append(bytes, action_vectors_, count * shape_.action_dim);
  append(bytes, rewards_, count);
  append(bytes, actions_, count);
  append(bytes, ends_, count);
  return bytes;
}

Segment Segment::from_bytes(std::span<const std::byte> bytes, const SegmentShape& shape) {
  Header header;
  if (bytes.size() < sizeof(header)) {
    throw CheckpointError(
        "a replay segment has {} bytes, expected: at least the {} bytes of its header",
        bytes.size(), sizeof(header));
  }
  std::memcpy(&header, bytes.data(), sizeof(header));
  if (std::string_view(header.magic.data(), header.magic.size()) != kMagic ||
      header.version != kVersion) {
    throw CheckpointError(
        "a replay segment has a wrong signature or version, expected: signature {} and version {}",
        kMagic, kVersion);
  }
  const SegmentShape found{.steps = header.steps,
                           .streams = header.streams,
                           .obs_dim = header.obs_dim,
                           .action_dim = header.action_dim};
  if (found != shape) {
    throw CheckpointError(
        "a replay segment has {} steps, {} streams, observations of {} and action vectors of {} "
        "numbers; expected {}, {}, {} and {}: use the configuration of the run that wrote it",
        found.steps, found.streams, found.obs_dim, found.action_dim, shape.steps, shape.streams,
        shape.obs_dim, shape.action_dim);
  }
  if (header.filled < 1 || header.filled > shape.steps) {
    throw CheckpointError("a replay segment has {} steps, expected: 1 to {}", header.filled,
                          shape.steps);
  }
  const std::int64_t count = header.filled * shape.streams;
  const std::size_t expected =
      sizeof(header) + static_cast<std::size_t>(count * bytes_of_step(shape));
  if (bytes.size() != expected) {
    throw CheckpointError("a replay segment with {} steps has {} bytes, expected: {} bytes",
                          header.filled, bytes.size(), expected);
  }
  Segment segment(shape, header.continues != 0);
  segment.filled_ = header.filled;
  bytes = bytes.subspan(sizeof(header));
  take(bytes, segment.obs_, count * shape.obs_dim);
  take(bytes, segment.action_vectors_, count * shape.action_dim);
  take(bytes, segment.rewards_, count);
  take(bytes, segment.actions_, count);
  take(bytes, segment.ends_, count);
  const auto ends = std::span(segment.ends_).first(static_cast<std::size_t>(count));
  if (std::ranges::any_of(ends, [](std::uint8_t end) { return end > kTruncated; })) {
    throw CheckpointError("in a replay segment the end of a step is marked {}, expected: 0 to {}",
                          *std::ranges::max_element(ends), +kTruncated);
  }
  return segment;
}

}  // namespace traffic::replay
