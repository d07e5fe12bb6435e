#include "traffic/data/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "synthetic.h"
#include "traffic/data/file_digest.h"

namespace traffic::data {
namespace {

using test::TempDir;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

void unheard(std::int64_t /*frames*/) {}

std::vector<std::string> problems_of(const std::filesystem::path& path) {
  return find_problems(DatasetReader(path));
}

void set(scene::GraphFrame& frame, std::string_view name, float value) {
  frame.node_features[static_cast<std::size_t>(scene::node_feature_index(name))] = value;
}

FileDigest digest_of(const std::filesystem::path& path) {
  return digest_file(DatasetReader(path), unheard);
}

TEST(Verify, GoodFilesHaveNoProblems) {
  const TempDir dir;
  test::write_file(dir / "a.h5", {{{.seed = 1}}, {{.seed = 2}, Split::kValidation}});
  test::write_file(dir / "b.h5", {{{.seed = 3}}, {{.seed = 4}, Split::kTest}});
  const std::vector files{digest_of(dir / "a.h5"), digest_of(dir / "b.h5")};
  EXPECT_THAT(problems_of(dir / "a.h5"), IsEmpty());
  EXPECT_THAT(find_leaks(files), IsEmpty());
}

TEST(Verify, TheSameSeedInTwoSplitsIsALeak) {
  const TempDir dir;
  test::write_file(dir / "a.h5", {{{.seed = 1, .vehicles = 10}}});
  test::write_file(dir / "b.h5", {{{.seed = 1, .vehicles = 20}, Split::kTest}});
  const std::vector files{digest_of(dir / "a.h5"), digest_of(dir / "b.h5")};
  EXPECT_THAT(
      find_leaks(files),
      Contains(AllOf(HasSubstr("leak between splits"), HasSubstr("seed 1"),
                     HasSubstr("a.h5 episode 0 (train)"), HasSubstr("b.h5 episode 0 (test)"))));
}

TEST(Verify, TheSameTrafficUnderAnotherSeedIsADuplicate) {
  const TempDir dir;
  {
    DatasetWriter writer(dir / "a.h5", test::test_info(), {});
    for (const std::uint64_t label : {1U, 2U}) {
      writer.begin_episode({.seed = label});
      for (const auto& frame : test::make_traffic({.seed = 9})) writer.append(frame);
      writer.end_episode();
    }
    writer.finish();
  }
  const std::vector files{digest_of(dir / "a.h5")};
  EXPECT_THAT(find_leaks(files), ElementsAre(HasSubstr("duplicate samples")));
}

/// Problems of a file with one vehicle that drives straight at 15 m/s, in which `change` has
/// changed each frame.
std::vector<std::string> problems_of_a_drive(
    const std::function<void(int t, scene::GraphFrame& frame)>& change) {
  const TempDir dir;
  {
    DatasetWriter writer(dir / "a.h5", test::test_info(), {});
    writer.begin_episode({.seed = 1});
    for (int t = 0; t < 30; ++t) {
      scene::GraphFrame frame;
      frame.time_s = t + 1;
      frame.vehicle_id = {7};
      frame.xy_m = {15.0F * static_cast<float>(t), 2.0F};
      frame.node_features.resize(scene::node_features().size());
      set(frame, kPositionFeature, frame.xy_m[0]);
      set(frame, kSpeedFeature, 15);
      frame.edge_ptr = {0, 0};
      change(t, frame);
      writer.append(frame);
    }
    writer.end_episode();
    writer.finish();
  }
  return problems_of(dir / "a.h5");
}

TEST(Verify, SpeedsThatNoVehicleReachesAreNamedWithTheirPlace) {
  EXPECT_THAT(problems_of_a_drive([](int, auto&) {}), IsEmpty());
  EXPECT_THAT(
      problems_of_a_drive([](int t, auto& frame) {
        if (t == 12 || t == 20) set(frame, kSpeedFeature, 1219.2F);
      }),
      Contains(AllOf(HasSubstr("a.h5: episode 0, frame 12 at 13 s: vehicle 7 has a speed of "
                               "1219.2 m/s, expected 0 to 150"),
                     HasSubstr("this happens 2 times in all"))));
  EXPECT_THAT(problems_of_a_drive([](int t, auto& frame) {
                if (t == 3) set(frame, kSpeedFeature, -4);
              }),
              ElementsAre(HasSubstr("frame 3 at 4 s: vehicle 7 has a speed of -4 m/s")));
}

TEST(Verify, AccelerationsThatNoVehicleHasAreNamed) {
  EXPECT_THAT(problems_of_a_drive([](int t, auto& frame) {
                if (t == 5) set(frame, kAccelerationFeature, 90);
              }),
              ElementsAre(HasSubstr("frame 5 at 6 s: vehicle 7 has an acceleration of 90 m/s2")));
  // Simulators stop vehicles within a step where a lane ends.
  EXPECT_THAT(problems_of_a_drive([](int t, auto& frame) {
                if (t != 5) return;
                set(frame, kSpeedFeature, 0);
                set(frame, kAccelerationFeature, -150);
              }),
              IsEmpty());
}

TEST(Verify, DisplacementsThatContradictTheSpeedsAreNamed) {
  EXPECT_THAT(problems_of_a_drive([](int t, auto& frame) {
                if (t >= 9) set(frame, kPositionFeature, 15.0F * static_cast<float>(t) + 400);
              }),
              ElementsAre(HasSubstr(
                  "frame 9 at 10 s: vehicle 7 covers 415 m in 1 s with speeds of 15 and 15 "
                  "m/s")));
  EXPECT_THAT(problems_of_a_drive([](int, auto& frame) { set(frame, kSpeedFeature, 54); }),
              Contains(AllOf(HasSubstr("distance covered (position_m) is 0.27"),
                             HasSubstr("the speeds may be km/h"))));
  EXPECT_THAT(problems_of_a_drive([](int, auto& frame) { frame.xy_m[0] *= 3.2808F; }),
              ElementsAre(HasSubstr("the coordinates may be feet")));
}

TEST(Verify, AFrameThatIsMissingIsFoundByItsTime) {
  const TempDir dir;
  {
    DatasetWriter writer(dir / "a.h5", test::test_info(), {});
    writer.begin_episode({.seed = 1});
    auto frames = test::make_traffic({.seed = 9});
    frames.erase(frames.begin() + 7);
    for (const auto& frame : frames) writer.append(frame);
    writer.end_episode();
    writer.finish();
  }
  EXPECT_THAT(problems_of(dir / "a.h5"),
              ElementsAre(HasSubstr("frame 7 is at 9 s, 2 s after the previous one")));
}

}  // namespace
}  // namespace traffic::data
