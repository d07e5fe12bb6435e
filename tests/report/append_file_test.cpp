#include "report/append_file.h"

#include <sys/resource.h>

#include <csignal>

#include "report/fixtures.h"

namespace traffic::report {
namespace {

class AppendFileTest : public FolderTest {};

TEST_F(AppendFileTest, AppendsToAnExistingFile) {
  write_text(dir_ / "log", "old\n");
  AppendFile file(dir_ / "log", "header\n");
  EXPECT_TRUE(file.append("new\n"));
  EXPECT_EQ(read_text(dir_ / "log"), "old\nnew\n");
}

TEST_F(AppendFileTest, NewFileStartsWithThePreamble) {
  AppendFile file(dir_ / "a" / "b" / "log", "header\n");
  EXPECT_TRUE(file.append("x\n"));
  EXPECT_EQ(read_text(dir_ / "a" / "b" / "log"), "header\nx\n");
}

TEST_F(AppendFileTest, AFileOfMaximumSizeIsRenamedWithoutLoss) {
  AppendFile file(dir_ / "log", "header\n", 64);
  AppendFile other(dir_ / "log", "header\n",
                   64);  // as if another rank appended to the same file
  for (int i = 10; i < 25; ++i) EXPECT_TRUE(file.append("line " + std::to_string(i) + "\n"));
  EXPECT_TRUE(other.append("from elsewhere\n"));
  EXPECT_EQ(read_text(dir_ / "log.1"),
            "header\nline 17\nline 18\nline 19\nline 20\nline 21\nline 22\nline 23\n");
  EXPECT_EQ(read_text(dir_ / "log"), "header\nline 24\nfrom elsewhere\n");
  EXPECT_EQ(file.num_lost(), 0U);
}

TEST_F(AppendFileTest, FullDiskIsCountedNotThrown) {
  AppendFile file("/dev/full");
  EXPECT_FALSE(file.append("x\n"));
  EXPECT_FALSE(file.append("x\n"));
  EXPECT_EQ(file.num_lost(), 2);
}

TEST_F(AppendFileTest, FolderThatCannotBeCreatedIsCountedNotThrown) {
  write_text(dir_ / "file", "");
  AppendFile file(dir_ / "file" / "log");
  EXPECT_FALSE(file.append("x\n"));
  EXPECT_EQ(file.num_lost(), 1);
}

TEST_F(AppendFileTest, ARemovedFolderIsCreatedAgain) {
  AppendFile file(dir_ / "logs" / "log", "header\n");
  EXPECT_TRUE(file.append("first\n"));
  std::filesystem::remove_all(dir_ / "logs");
  // The file is opened again at most once a second. Until then append() fails, because lines in the
  // removed file would be lost unnoticed.
  while (!file.append("second\n")) usleep(50'000);
  EXPECT_GT(file.num_lost(), 0);
  EXPECT_EQ(read_text(dir_ / "logs" / "log"), "header\nsecond\n");
}

TEST_F(AppendFileTest, AnEntryThatDoesNotFitIsRemovedAgain) {
  const ChildResult child = run_child([this] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit bytes{10, 10};
    setrlimit(RLIMIT_FSIZE, &bytes);
    AppendFile file(dir_ / "log");
    const bool first = file.append("1234567\n");
    const bool second = file.append("1234567\n");  // two bytes fit
    return first && !second && file.num_lost() == 1 ? 0 : 1;
  });
  EXPECT_EQ(child.exit_code, 0);
  EXPECT_EQ(read_text(dir_ / "log"), "1234567\n");
}

}  // namespace
}  // namespace traffic::report
