#include "traffic/checkpoint/snapshot.h"

#include <gmock/gmock.h>

#include "checkpoint/fixtures.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

template <typename Function>
std::string message_of(const Function& function) {
  try {
    function();
  } catch (const CheckpointError& error) {
    return error.what();
  }
  return "nothing thrown";
}

TEST(Snapshot, ListsNamesUnderAPrefixInOrder) {
  EXPECT_THAT(small_snapshot(1).names("sampler/"), ElementsAre("sampler/empty", "sampler/order"));
  EXPECT_THAT(small_snapshot(1).names("none/"), ElementsAre());
}

TEST(Snapshot, RefusesNamesThatAreNotPaths) {
  Snapshot snapshot;
  for (const char* name : {"", "/", "a//b", "/a", "a/", "../a", "a/./b", "a b", "a\nb", "ä"}) {
    EXPECT_THROW(snapshot.put_int(name, 1), Error) << name;
  }
  EXPECT_THROW(snapshot.put_int(std::string(256, 'x'), 1), Error);
}

TEST(Snapshot, RefusesADuplicateNameAndAValueThatIsAGroup) {
  Snapshot snapshot;
  snapshot.put_int("a/b", 1);
  EXPECT_THROW(snapshot.put_int("a/b", 2), Error);
  EXPECT_THROW(snapshot.put_int("a", 2), Error);
  EXPECT_THROW(snapshot.put_int("a/b/c/d", 2), Error);
  snapshot.put_int("a/bc", 3);
  EXPECT_EQ(snapshot.names().size(), 2);
}

TEST(Snapshot, RefusesTypesOfTensorsThatTheFormatLacks) {
  Snapshot snapshot;
  EXPECT_THROW(snapshot.put_tensor("half", at::zeros({2}, at::kHalf)), Error);
  EXPECT_THROW(snapshot.put_tensor("undefined", at::Tensor()), Error);
  EXPECT_THROW(snapshot.put_tensor("deep", at::zeros({1, 1, 1, 1, 1, 1, 1, 1, 1})), Error);
}

TEST(Snapshot, MissingValueIsNamedWithItsFile) {
  Snapshot snapshot;
  snapshot.set_source("/runs/x/step-000000001.h5");
  EXPECT_THAT(message_of([&] { (void)snapshot.integer("meta/step"); }),
              ::testing::AllOf(HasSubstr("/runs/x/step-000000001.h5"), HasSubstr("'meta/step'"),
                               HasSubstr("missing")));
}

TEST(Snapshot, WrongShapeOrTypeIsReportedWithFoundAndExpected) {
  const Snapshot snapshot = small_snapshot(1);
  EXPECT_THAT(message_of([&] {
                (void)snapshot.tensor("model/matrix", {4, 3}, at::kDouble);
              }),
              ::testing::AllOf(HasSubstr("Double tensor of shape [3, 4]"), HasSubstr("[4, 3]")));
  EXPECT_THAT(message_of([&] {
                (void)snapshot.tensor("model/matrix", {3, 4}, at::kFloat);
              }),
              HasSubstr("expected: Float"));
  EXPECT_THAT(message_of([&] { (void)snapshot.integer("config"); }),
              ::testing::AllOf(HasSubstr("a text"), HasSubstr("an integer")));
  EXPECT_THAT(message_of([&] { (void)snapshot.bytes("meta/best"); }), HasSubstr("a real number"));
}

TEST(Snapshot, CopiesIntoATensorOfTheSameShape) {
  const Snapshot snapshot = small_snapshot(1);
  const at::Tensor out = at::zeros({3, 4}, at::kDouble);
  snapshot.copy_tensor("model/matrix", out);
  EXPECT_TRUE(out.equal(snapshot.tensor("model/matrix")));
  EXPECT_THROW(snapshot.copy_tensor("model/matrix", at::zeros({12}, at::kDouble)), CheckpointError);
}

TEST(Snapshot, TensorsWithoutDimensionsAreScalars) {
  Snapshot snapshot;
  snapshot.put_tensor("steps", at::full({}, 7, at::kLong));
  snapshot.put_tensor("scale", at::full({}, 0.5, at::kDouble));
  snapshot.put_tensor("single", at::full({}, 0.25, at::kFloat));
  EXPECT_EQ(snapshot.integer("steps"), 7);
  EXPECT_EQ(snapshot.real("scale"), 0.5);
  EXPECT_EQ(snapshot.tensor("steps", {}, at::kLong).item<std::int64_t>(), 7);
  EXPECT_EQ(snapshot.tensor("single", {}, at::kFloat).item<float>(), 0.25f);
}

TEST(Snapshot, KeepsTheValuesOfStridedTensors) {
  Snapshot snapshot;
  snapshot.put_tensor("t", at::arange(6).reshape({2, 3}).t());
  EXPECT_TRUE(snapshot.tensor("t", {3, 2}, at::kLong).is_contiguous());
  EXPECT_EQ(snapshot.tensor("t")[2][1].item<std::int64_t>(), 5);
}

}  // namespace
}  // namespace traffic::checkpoint
