#include "traffic/replay/segment.h"

#include <gmock/gmock.h>

#include <algorithm>

#include "replay/streams.h"
#include "traffic/core/error.h"

namespace traffic::replay {
namespace {

using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

constexpr SegmentShape kPartShape{.steps = 8, .streams = 3, .obs_dim = 5, .action_dim = 4};

std::vector<std::byte> bytes_of_a_part(int steps) {
  Replay replay({.capacity = 48, .segment = kPartShape});
  Streams(kPartShape, 5).push_to(replay, steps);
  return replay.segments().back()->to_bytes();
}

TEST(Segment, ReadsTheSameValuesFromItsBytes) {
  const auto bytes = bytes_of_a_part(5);
  const Segment read = Segment::from_bytes(bytes, kPartShape);
  EXPECT_EQ(read.filled(), 5);
  EXPECT_EQ(read.action(3, 1), 3);
  EXPECT_EQ(read.reward(4, 2), 4.0F);
  EXPECT_EQ(read.to_bytes(), bytes);
}

TEST(Segment, AnErrorNamesTheFoundAndTheExpectedShape) {
  SegmentShape other = kPartShape;
  other.streams = 6;
  EXPECT_THAT([&] { Segment::from_bytes(bytes_of_a_part(5), other); },
              Throws<CheckpointError>(
                  Property(&Error::what, HasSubstr("8 steps, 3 streams, observations of 5 and "
                                                   "action vectors of 4 numbers; expected 8, 6"))));
}

TEST(Segment, RefusesInvalidBytes) {
  auto bytes = bytes_of_a_part(5);
  EXPECT_THROW(Segment::from_bytes(std::span(bytes).first(20), kPartShape), CheckpointError);
  EXPECT_THROW(Segment::from_bytes(std::span(bytes).first(bytes.size() - 1), kPartShape),
               CheckpointError);
  auto marked = bytes;
  marked.back() = std::byte{3};  // an end that does not exist
  EXPECT_THROW(Segment::from_bytes(marked, kPartShape), CheckpointError);
  bytes[48] = std::byte{200};  // more filled steps than the segment has
  EXPECT_THROW(Segment::from_bytes(bytes, kPartShape), CheckpointError);
  std::fill_n(bytes.begin() + 48, 8, std::byte{0});
  EXPECT_THROW(Segment::from_bytes(std::span(bytes).first(56), kPartShape), CheckpointError);
  std::fill_n(bytes.begin() + 48, 8,
              std::byte{0x7f});  // the product of this number with streams overflows
  EXPECT_THROW(Segment::from_bytes(bytes, kPartShape), CheckpointError);
  bytes[0] = std::byte{0};
  EXPECT_THROW(Segment::from_bytes(bytes, kPartShape), CheckpointError);
}

TEST(Segment, HasTheSizeThatItsShapeStates) {
  // 8 x 3 steps, each of 5 + 4 half-precision numbers, a reward, an action and an end
  EXPECT_EQ(kPartShape.bytes(), 24 * (18 + 4 + 2));
  EXPECT_EQ(std::ssize(bytes_of_a_part(8)), 56 + kPartShape.bytes());
}

}  // namespace
}  // namespace traffic::replay
