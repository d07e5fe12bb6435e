#include "traffic/data/writer.h"
#include "support/processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <limits>

#include "synthetic.h"
#include "traffic/core/error.h"
#include "traffic/data/reader.h"

namespace traffic::data {
namespace {

using test::make_traffic;
using test::TempDir;
using testing::HasSubstr;

std::size_t num_files(const TempDir& dir) {
  const std::filesystem::directory_iterator begin(dir.path());
  return static_cast<std::size_t>(std::distance(begin, std::filesystem::directory_iterator{}));
}

template <typename Function>
std::string message_of(Function function) {
  try {
    function();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

class WriterTest : public testing::Test {
 protected:
  TempDir dir_;
  std::vector<scene::GraphFrame> frames_ = make_traffic({.seed = 5, .frames = 10});
};

TEST_F(WriterTest, AnUnfinishedFileIsRemoved) {
  {
    DatasetWriter writer(dir_ / "a.h5", test::test_info(), {});
    writer.begin_episode({.seed = 1});
    for (const auto& frame : frames_) writer.append(frame);
  }
  EXPECT_EQ(num_files(dir_), 0U);
}

TEST_F(WriterTest, TheOldFileStaysUntilTheNewOneIsFinished) {
  test::write_file(dir_ / "a.h5", {{{.seed = 1, .frames = 20}}});
  {
    DatasetWriter writer(dir_ / "a.h5", test::test_info(), {});
    writer.begin_episode({.seed = 2});
    writer.append(frames_[0]);
  }
  EXPECT_EQ(DatasetReader(dir_ / "a.h5").num_frames(), 20);
}

TEST_F(WriterTest, TheFileDoesNotDependOnTheThreadsThatCompress) {
  const std::vector<test::EpisodeSpec> episodes{{{.seed = 1, .frames = 600, .vehicles = 60}},
                                                {{.seed = 2, .frames = 300, .vehicles = 90}}};
  for (const int level : {0, 1, 6}) {
    for (const int threads : {0, 1, 3}) {
      test::write_file(dir_ / fmt::format("{}-{}.h5", level, threads), episodes,
                       {.compression_level = level, .encoder_threads = threads});
    }
    const std::string alone = test::read_bytes(dir_ / fmt::format("{}-0.h5", level));
    EXPECT_GT(DatasetReader(dir_ / fmt::format("{}-0.h5", level)).num_nodes(), 20000);
    EXPECT_EQ(alone, test::read_bytes(dir_ / fmt::format("{}-1.h5", level)));
    EXPECT_EQ(alone, test::read_bytes(dir_ / fmt::format("{}-3.h5", level)));
  }
}

TEST_F(WriterTest, RefusesValuesThatAreNotFinite) {
  DatasetWriter writer(dir_ / "a.h5", test::test_info(), {});
  writer.begin_episode({.seed = 77});
  frames_[0].node_features[3] = std::numeric_limits<float>::quiet_NaN();
  const auto message = message_of([&] { writer.append(frames_[0]); });
  EXPECT_THAT(message, HasSubstr("seed 77, frame 0"));
  EXPECT_THAT(message, HasSubstr("value 3 of the node features is nan"));
}

TEST_F(WriterTest, RefusesEdgesFromNodesThatDoNotExist) {
  DatasetWriter writer(dir_ / "a.h5", test::test_info(), {});
  writer.begin_episode({.seed = 1});
  auto& frame = *std::find_if(frames_.begin(), frames_.end(),
                              [](const auto& f) { return !f.edge_src.empty(); });
  frame.edge_src[0] = static_cast<std::int32_t>(frame.num_nodes());
  EXPECT_THROW(writer.append(frame), DataError);
}

TEST_F(WriterTest, RefusesAFrameWithContradictorySizes) {
  DatasetWriter writer(dir_ / "a.h5", test::test_info(), {});
  writer.begin_episode({.seed = 1});
  frames_[0].xy_m.pop_back();
  EXPECT_THROW(writer.append(frames_[0]), DataError);
}

TEST_F(WriterTest, AnErrorNamesTheFeatureThatExceedsFloat16) {
  DatasetWriter writer(dir_ / "a.h5", test::test_info(), {.float16 = true});
  writer.begin_episode({.seed = 1});
  const auto remaining = static_cast<std::size_t>(scene::node_feature_index("remaining_m"));
  frames_[0].node_features[remaining] = 70000.0F;
  EXPECT_THAT(message_of([&] { writer.append(frames_[0]); }),
              HasSubstr("remaining_m is 70000 m, more than float16 holds"));
}

TEST_F(WriterTest, RefusesAFileWithoutEpisodesAndAnEpisodeWithoutFrames) {
  DatasetWriter writer(dir_ / "a.h5", test::test_info(), {});
  EXPECT_THROW(writer.finish(), DataError);
  writer.begin_episode({.seed = 1});
  EXPECT_THROW(writer.end_episode(), DataError);
}

TEST_F(WriterTest, AnErrorNamesAMissingFolder) {
  const auto message =
      message_of([&] { DatasetWriter(dir_ / "none" / "a.h5", test::test_info(), {}); });
  EXPECT_THAT(message, HasSubstr((dir_ / "none").string()));
}

/// Limits the files of the child process to `limit` bytes, like a full disk.
int exit_status_with_file_limit(const TempDir& dir, rlim_t limit) {
  const pid_t child = traffic::test::fork_child();
  if (child == 0) {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit size{limit, limit};
    setrlimit(RLIMIT_FSIZE, &size);
    int status = 0;
    try {
      test::write_file(dir / "a.h5", {{{.seed = 1, .frames = 200, .vehicles = 60}}},
                       {.compression_level = 0});
    } catch (const Error&) {
      status = 10;
    }
    _exit(status);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST_F(WriterTest, AWriteThatFailsAnywhereIsAnErrorAndLeavesNothing) {
  for (const rlim_t limit : {100U, 4096U, 50000U, 300000U, 1000000U}) {
    const int status = exit_status_with_file_limit(dir_, limit);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 10) << limit << ": " << status;
    EXPECT_EQ(num_files(dir_), 0U) << limit;
  }
}

}  // namespace
}  // namespace traffic::data
