#include "traffic/data/verify.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

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
              ElementsAre(HasSubstr("frame 7 is at 9 s, 2 s after the one before")));
}

}  // namespace
}  // namespace traffic::data
