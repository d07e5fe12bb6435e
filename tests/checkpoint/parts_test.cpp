/// Tests part files, which hold large data of checkpoints and lie beside them (parts.h).
#include "traffic/checkpoint/parts.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <chrono>

#include "checkpoint/fixtures.h"
#include "traffic/checkpoint/file.h"
#include "traffic/checkpoint/manager.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

class PartsTest : public FolderTest {
 protected:
  static Bytes bytes_of(const std::string& text) {
    const auto bytes = std::as_bytes(std::span(text));
    return {bytes.begin(), bytes.end()};
  }
  /// A checkpoint with an arbitrary text in place of the list of its parts.
  static Snapshot naming_literally(std::int64_t step, const std::string& names) {
    Snapshot snapshot = small_snapshot(step, 10);
    snapshot.put_text("parts/replay-rank0", names);
    return snapshot;
  }
  /// Loads a checkpoint that names only the part `name`.
  /// @return the message of the refusal, or "accepted"
  [[nodiscard]] std::string refusal(const std::string& name) const {
    fs::create_directories(folder_);
    const fs::path path = folder_ / "stranger.h5";
    checkpoint::save(naming_literally(1, name), path);
    try {
      check_parts(load(path));
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "accepted";
  }
  /// A checkpoint that contains and names parts with these contents.
  static Snapshot naming(std::int64_t step, const std::vector<std::string>& contents) {
    Snapshot snapshot = small_snapshot(step, 10);
    std::string names;
    for (const std::string& content : contents) {
      names += part_name(bytes_of(content)) + " ";
      snapshot.add_part(
          {.name = part_name(bytes_of(content)), .bytes = [content] { return bytes_of(content); }});
    }
    snapshot.put_text("parts/replay-rank0", names);
    return snapshot;
  }
  void save(const Snapshot& snapshot, bool best = false) {
    write_parts(snapshot, folder_);
    (void)manager_.save_step(FileImage(snapshot), best);
    for (const Rejected& rejected : manager_.remove_unnamed_parts()) rejected_.push_back(rejected);
  }
  [[nodiscard]] fs::path place_of(const std::string& content) const {
    return folder_ / "parts" / part_name(bytes_of(content));
  }
  [[nodiscard]] std::ptrdiff_t num_files() const {
    return std::distance(fs::directory_iterator(folder_ / "parts"), fs::directory_iterator());
  }

  fs::path folder_ = dir_ / "checkpoints";
  CheckpointManager manager_{folder_, 2, "snakes"};
  std::vector<Rejected> rejected_;
};

TEST_F(PartsTest, AreSharedByCheckpointsAndRemovedWithTheLast) {
  save(naming(1, {"a", "b"}));
  const auto written = fs::last_write_time(place_of("b"));
  save(naming(2, {"b", "c"}));
  save(naming(3, {"b", "d"}));  // keep_last is 2
  EXPECT_FALSE(fs::exists(place_of("a")));
  EXPECT_TRUE(fs::exists(place_of("c")));
  EXPECT_EQ(fs::last_write_time(place_of("b")), written);
  EXPECT_EQ(num_files(), 3);
  save(naming(4, {"e"}));
  save(naming(5, {"e"}));
  EXPECT_EQ(num_files(), 1);
}

TEST_F(PartsTest, PartsOfTheBestCheckpointStay) {
  save(naming(1, {"a"}), /*best=*/true);
  for (const std::int64_t step : {2, 3, 4}) save(naming(step, {"b"}));
  EXPECT_TRUE(fs::exists(place_of("a")));
}

TEST_F(PartsTest, AreAlsoReadByACheckpointThatWasMovedAside) {
  save(naming(1, {"a"}));
  save(naming(2, {"a", "b"}));
  EXPECT_EQ(read_part(load(manager_.step_path(2)), part_name(bytes_of("b"))), bytes_of("b"));
  const fs::path aside = manager_.leave_behind(manager_.step_path(1));
  save(naming(2, {"c"}));
  const Snapshot moved = load(aside / "step-000000002.h5");
  EXPECT_EQ(read_part(moved, part_name(bytes_of("b"))), bytes_of("b"));
}

TEST_F(PartsTest, ACheckpointWithMissingOrDamagedPartsIsSkipped) {
  save(naming(1, {"a"}));
  save(naming(2, {"b"}));
  write_bytes(place_of("b"), {'x'});
  const ResumePoint point = manager_.newest_valid();
  ASSERT_TRUE(point.snapshot);
  EXPECT_EQ(point.snapshot->step(), 1);
  ASSERT_EQ(point.rejected.size(), 1U);
  EXPECT_THAT(point.rejected[0].reason, HasSubstr("is damaged"));
  fs::remove(place_of("a"));
  EXPECT_THAT([&] { check_parts(load(manager_.step_path(1))); },
              Throws<CheckpointError>(Property(&Error::what, HasSubstr("is missing; copy the "))));
}

TEST_F(PartsTest, OnlyNamesInTheFormOfPartsAreAccepted) {
  EXPECT_TRUE(is_part_name(part_name({})));
  EXPECT_TRUE(is_part_name("0123456789abcdef-18446744073709551615.part"));
  for (const std::string name :
       {"", ".part", "0123456789abcdef-.part", "0123456789abcdef-1", "0123456789abcdef-01.part",
        "0123456789abcdef-18446744073709551616.part", "0123456789ABCDEF-1.part",
        "0123456789abcde-1.part", "../0123456789abcdef-1.part", "0123456789abcdef-1.part/..",
        "0123456789abcdef--1.part", "0123456789abcdef-+1.part", "0123456789abcdef-1 .part"}) {
    EXPECT_FALSE(is_part_name(name)) << name;
    EXPECT_THROW(place_of_part(folder_ / "a.h5", name), Error) << name;
  }
}

TEST_F(PartsTest, ACheckpointThatNamesAnyOtherPathIsRefused) {
  write_bytes(dir_ / "secret", {'s'});
  for (const std::string name : {"/etc/passwd", "../../secret", "../secret", "..", "a.part"}) {
    EXPECT_THAT(refusal(name), HasSubstr("names '" + name + "', expected: names like "));
  }
  EXPECT_THAT(refusal("\x1b[2J"), HasSubstr("names '\\x1b[2J'"));
}

TEST_F(PartsTest, OnlyRegularFilesAreRead) {
  save(naming(1, {"a"}));
  const std::string name = part_name(bytes_of("a"));
  fs::rename(place_of("a"), dir_ / "elsewhere");
  fs::create_symlink(dir_ / "elsewhere", place_of("a"));
  EXPECT_THAT(refusal(name), HasSubstr("is not a regular file"));
  fs::remove(place_of("a"));
  ASSERT_EQ(mkfifo(place_of("a").c_str(), 0600), 0);
  EXPECT_THAT(refusal(name), HasSubstr("is not a regular file"));  // without waiting for a writer
  fs::remove(place_of("a"));
  fs::create_directory(place_of("a"));
  EXPECT_THAT(refusal(name), HasSubstr("is not a regular file"));
}

TEST_F(PartsTest, AFileOfAnotherSizeIsNotReadIntoMemory) {
  save(naming(1, {"a"}));
  fs::resize_file(place_of("a"), std::uintmax_t{1} << 40);  // sparse: larger than the memory
  EXPECT_THAT(refusal(part_name(bytes_of("a"))), HasSubstr("is damaged"));
}

TEST_F(PartsTest, AnUnfinishedPartIsWrittenAgain) {
  save(naming(1, {"abc"}));
  write_bytes(place_of("abc"), {'a'});
  save(naming(2, {"abc"}));
  EXPECT_EQ(read_part(load(manager_.step_path(2)), part_name(bytes_of("abc"))), bytes_of("abc"));
}

TEST_F(PartsTest, FilesThatAreNotCheckpointsKeepNoPartsAndAreReportedOnce) {
  save(naming(1, {"a"}));
  write_bytes(folder_ / "table.h5", {'n', 'o'});
  fs::create_directory(folder_ / "kept");
  write_bytes(folder_ / "kept/damaged.h5", std::vector<char>(5000, 'x'));
  ASSERT_EQ(mkfifo((folder_ / "pipe.h5").c_str(), 0600), 0);
  for (const std::int64_t step : {2, 3, 4, 5}) save(naming(step, {"b" + std::to_string(step)}));
  EXPECT_EQ(num_files(), 2);
  EXPECT_EQ(rejected_.size(), 3U);
}

TEST_F(PartsTest, ACheckpointOfAnotherFormatKeepsAllOlderParts) {
  save(naming(1, {"a"}));
  std::vector<char> bytes = read_bytes(manager_.step_path(1));
  bytes[8] = 9;  // the format version
  write_bytes(folder_ / "later.h5", bytes);
  const auto now = fs::file_time_type::clock::now();
  fs::last_write_time(place_of("a"), now - std::chrono::hours(2));
  fs::last_write_time(folder_ / "later.h5", now - std::chrono::hours(1));
  for (const std::int64_t step : {2, 3, 4, 5}) save(naming(step, {"b" + std::to_string(step)}));
  EXPECT_TRUE(fs::exists(place_of("a")));
  EXPECT_EQ(num_files(), 3);
  ASSERT_EQ(rejected_.size(), 1U);
  EXPECT_THAT(rejected_[0].reason, HasSubstr("format version 9"));
}

TEST_F(PartsTest, ASaveDoesNotReadKnownCheckpointsAgain) {
  save(naming(1, {"a"}), /*best=*/true);
  save(naming(2, {"b"}));
  // The files are damaged behind their headers. A save that read them again would report that.
  for (const fs::path& path : {manager_.step_path(2), manager_.best_path()}) {
    std::vector<char> bytes = read_bytes(path);
    bytes.back() = static_cast<char>(bytes.back() + 1);
    write_bytes(path, bytes);
  }
  EXPECT_TRUE(manager_.remove_unnamed_parts().empty());
  EXPECT_EQ(num_files(), 2);
  CheckpointManager anew(folder_, 2, "snakes");
  EXPECT_EQ(anew.remove_unnamed_parts().size(), 3U);  // step 1 is a link to the best
}

TEST_F(PartsTest, AFolderOfPartsThatIsALinkIsRefused) {
  fs::create_directory(dir_ / "of-another-run");
  write_bytes(dir_ / "of-another-run" / part_name(bytes_of("x")), {'x'});
  fs::create_directory_symlink(dir_ / "of-another-run", folder_ / "parts");
  EXPECT_THAT([&] { write_parts(naming(1, {"a"}), folder_); },
              Throws<ResourceError>(Property(&Error::what, HasSubstr("is a link"))));
  EXPECT_THROW(manager_.remove_unnamed_parts(), ResourceError);
  EXPECT_TRUE(fs::exists(dir_ / "of-another-run" / part_name(bytes_of("x"))));
}

}  // namespace
}  // namespace traffic::checkpoint
