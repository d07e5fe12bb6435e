#include "traffic/core/atomic_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <fstream>
#include <iterator>
#include <string>

namespace traffic {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class AtomicFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto* test = ::testing::UnitTest::GetInstance()->current_test_info();
    dir_ = fs::temp_directory_path() /
           fmt::format("traffic_{}_{}_{}", test->test_suite_name(), test->name(), getpid());
    fs::create_directories(dir_);
  }
  void TearDown() override { fs::remove_all(dir_); }

  static std::string content(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] auto files_in_dir() const {
    return std::distance(fs::directory_iterator(dir_), fs::directory_iterator());
  }
  static void put(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

  fs::path dir_;
};

template <typename F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const ResourceError& error) {
    EXPECT_EQ(error.code(), ExitCode::kResources);
    return error.what();
  }
  return "no error";
}

TEST_F(AtomicFileTest, ReplacesTheOldContentAndLeavesNothingBeside) {
  const fs::path path = dir_ / "summary.json";
  write_file_atomically(path, "old");
  write_file_atomically(path, std::string_view("new\0text", 8));
  EXPECT_EQ(content(path), std::string("new\0text", 8));
  EXPECT_EQ(files_in_dir(), 1);
}

TEST_F(AtomicFileTest, WritesAnEmptyFile) {
  write_file_atomically(dir_ / "empty", "");
  EXPECT_TRUE(fs::exists(dir_ / "empty"));
  EXPECT_EQ(fs::file_size(dir_ / "empty"), 0U);
}

TEST_F(AtomicFileTest, NamesPathCauseAndRemedyWhenTheFolderIsMissing) {
  const std::string message =
      message_of([&] { write_file_atomically(dir_ / "missing" / "file", "x"); });
  EXPECT_THAT(message, HasSubstr("missing"));
  EXPECT_THAT(message, HasSubstr(fmt::format("errno {}", ENOENT)));
  EXPECT_THAT(message, HasSubstr("check that the folder exists"));
}

TEST_F(AtomicFileTest, SaysSoWhenAPartOfThePathIsAFile) {
  put(dir_ / "file", "x");
  EXPECT_THAT(message_of([&] { write_file_atomically(dir_ / "file" / "below", "x"); }),
              HasSubstr("is a file, not a folder"));
}

TEST_F(AtomicFileTest, DoesNotReplaceAFolder) {
  fs::create_directory(dir_ / "folder");
  EXPECT_THAT(message_of([&] { write_file_atomically(dir_ / "folder", "x"); }),
              HasSubstr("is a folder"));
  EXPECT_EQ(files_in_dir(), 1);
}

using AtomicFileDeathTest = AtomicFileTest;

TEST_F(AtomicFileDeathTest, AWriteThatFailsHalfwayLeavesTheOldFileAndNothingBeside) {
  const fs::path path = dir_ / "checkpoint";
  write_file_atomically(path, "old");
  // The child may not write files beyond 4096 bytes, so that the second part of its write fails.
  EXPECT_EXIT(
      {
        std::signal(SIGXFSZ, SIG_IGN);
        rlimit limit{};
        limit.rlim_cur = limit.rlim_max = 4096;
        setrlimit(RLIMIT_FSIZE, &limit);
        const std::string message =
            message_of([&] { write_file_atomically(path, std::string(10000, 'x')); });
        fmt::print(stderr, "{}\n", message);
        ::_exit(message.find("cannot write") != std::string::npos ? 8 : 1);
      },
      ::testing::ExitedWithCode(8), fmt::format("errno {}", EFBIG));
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files_in_dir(), 1);
}

TEST_F(AtomicFileTest, GivesAWriterItsOwnPathAndTheTargetOnCommit) {
  const fs::path path = dir_ / "data.h5";
  put(path, "old");
  AtomicFile file(path);
  EXPECT_EQ(file.temp_path().parent_path(), dir_);
  put(file.temp_path(), "new");
  EXPECT_EQ(content(path), "old");
  file.commit();
  EXPECT_EQ(content(path), "new");
  EXPECT_EQ(files_in_dir(), 1);
}

TEST_F(AtomicFileTest, WithoutCommitTheTargetIsUntouched) {
  const fs::path path = dir_ / "data.h5";
  put(path, "old");
  {
    AtomicFile file(path);
    put(file.temp_path(), "half");
  }
  EXPECT_EQ(content(path), "old");
  EXPECT_EQ(files_in_dir(), 1);
}

TEST_F(AtomicFileTest, TwoWritersOfOneTargetDoNotShareATemporary) {
  AtomicFile one(dir_ / "file");
  AtomicFile two(dir_ / "file");
  EXPECT_NE(one.temp_path(), two.temp_path());
}

TEST_F(AtomicFileDeathTest, RemovesFilesOfKilledWritersAndKeepsThoseInUse) {
  EXPECT_EXIT(
      {
        AtomicFile file(dir_ / "killed");
        put(file.temp_path(), "half");
        std::raise(SIGKILL);
      },
      ::testing::KilledBySignal(SIGKILL), "");
  AtomicFile in_use(dir_ / "in_use");
  put(in_use.temp_path(), "half");
  put(dir_ / "user.txt", "x");
  put(dir_ / ".tmp-notes", "x");
  EXPECT_EQ(files_in_dir(), 4);
  EXPECT_EQ(remove_stale_temporaries(dir_), 1);
  EXPECT_TRUE(fs::exists(in_use.temp_path()));
  EXPECT_TRUE(fs::exists(dir_ / ".tmp-notes"));
  EXPECT_EQ(files_in_dir(), 3);
}

TEST_F(AtomicFileTest, KeepsTemporariesOfOtherMachinesForADay) {
  AtomicFile file(dir_ / "name");
  std::string name = file.temp_path().filename().string();
  const auto host = name.find('-', name.find('-', 5) + 1) + 1;  // .tmp-<pid>-<start>-<host>-
  name[host] = name[host] == '0' ? '1' : '0';
  put(dir_ / name, "half");
  EXPECT_EQ(remove_stale_temporaries(dir_), 0);
  fs::last_write_time(dir_ / name, fs::file_time_type::clock::now() - std::chrono::hours(25));
  EXPECT_EQ(remove_stale_temporaries(dir_), 1);
}

TEST_F(AtomicFileTest, AMissingFolderHasNoStaleTemporaries) {
  EXPECT_EQ(remove_stale_temporaries(dir_ / "missing"), 0);
}

}  // namespace
}  // namespace traffic
