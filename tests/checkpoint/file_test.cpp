#include "traffic/checkpoint/file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "checkpoint/fixtures.h"
#include "checkpoint/header.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::checkpoint {
namespace {

using ::testing::HasSubstr;

class FileTest : public FolderTest {
 protected:
  std::filesystem::path path_ = dir_ / "step-000000007.h5";

  /// Loads a file of these bytes. @return the message of the refusal; empty if it is accepted
  std::string refusal(const std::vector<char>& bytes) {
    write_bytes(path_, bytes);
    try {
      (void)load(path_);
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "";
  }
};

TEST_F(FileTest, RoundTripKeepsEveryBit) {
  Snapshot saved = small_snapshot(7);
  saved.put_real("odd/nan", std::numeric_limits<double>::quiet_NaN());
  saved.put_real("odd/negative_zero", -0.0);
  saved.put_tensor("odd/values", at::tensor({NAN, INFINITY, -INFINITY, -0.0, 1e-45}, at::kFloat));
  saved.put_text("odd/text", std::string("a\0b \xC3\xA4", 6));
  saved.put_bytes("odd/no_bytes", {});
  saved.put_tensor("odd/eight_dims", at::arange(6).reshape({1, 2, 1, 3, 1, 1, 1, 1}));
  save(saved, path_);
  const Snapshot loaded = load(path_);
  EXPECT_TRUE(same_bits(saved, loaded));
  EXPECT_EQ(loaded.source(), path_.string());
}

TEST_F(FileTest, EmptySnapshotIsACheckpointToo) {
  save(Snapshot(3), path_);
  EXPECT_TRUE(load(path_).names().empty());
  EXPECT_EQ(read_info(path_).step, 3);
}

TEST_F(FileTest, AcceptsManyValuesInAGroupAndDeepGroups) {
  Snapshot saved;
  for (int i = 0; i < 500; ++i) saved.put_int(fmt::format("many/part{}", i), i);
  saved.put_int("a/b/c/d/e/f/g/h/i/j", 1);
  save(saved, path_);
  EXPECT_TRUE(same_bits(saved, load(path_)));
}

TEST_F(FileTest, EqualSnapshotsGiveEqualFiles) {
  save(small_snapshot(7), path_);
  save(small_snapshot(7), dir_ / "again.h5");
  EXPECT_EQ(read_bytes(path_), read_bytes(dir_ / "again.h5"));
}

TEST_F(FileTest, IsAnHdf5FileForOtherPrograms) {
  save(small_snapshot(7), path_);
  const std::vector<char> bytes = read_bytes(path_);
  EXPECT_EQ(std::string(bytes.data() + kHeaderBytes, 8), "\x89HDF\r\n\x1a\n");
}

TEST_F(FileTest, InfoComesFromTheHeader) {
  save(small_snapshot(7), path_);
  EXPECT_EQ(read_info(path_).step, 7);
  EXPECT_EQ(verify(path_).bytes, static_cast<std::int64_t>(std::filesystem::file_size(path_)));
}

TEST_F(FileTest, TruncationAtEvery4KibIsDetected) {
  save(small_snapshot(7, 50'000), path_);
  const std::vector<char> whole = read_bytes(path_);
  for (std::size_t length = 0; length < whole.size(); length += 4096) {
    EXPECT_NE(refusal({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(length)}), "")
        << length;
  }
  std::vector<char> longer = whole;
  longer.push_back('\0');
  EXPECT_THAT(refusal(longer), HasSubstr("bytes found"));
}

TEST_F(FileTest, ASingleFlippedBitAtARandomPlaceIsDetected) {
  save(small_snapshot(7), path_);
  std::vector<char> bytes = read_bytes(path_);
  Rng rng(42);
  for (int trial = 0; trial < 2000; ++trial) {
    const std::size_t at = rng.uniform_int(bytes.size());
    const char mask = static_cast<char>(1 << rng.uniform_int(8));
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
    ASSERT_NE(refusal(bytes), "") << "byte " << at;
    bytes[at] = static_cast<char>(bytes[at] ^ mask);
  }
  EXPECT_EQ(refusal(bytes), "");
}

TEST_F(FileTest, TheErrorNamesThePlaceOfTheDamage) {
  save(small_snapshot(7, 100'000), path_);
  std::vector<char> bytes = read_bytes(path_);
  bytes[200'000] = static_cast<char>(bytes[200'000] ^ 1);
  // Blocks of 64 KiB begin after the header of 4096 bytes.
  EXPECT_THAT(refusal(bytes),
              ::testing::AllOf(HasSubstr(path_.string()), HasSubstr("bytes 135168..200703")));
}

TEST_F(FileTest, RefusesFilesThatAreNotCheckpoints) {
  EXPECT_THAT(refusal({}), HasSubstr("0 bytes found"));
  EXPECT_THAT(refusal(std::vector<char>(10'000, 'x')), HasSubstr("no signature"));
  EXPECT_THROW((void)load(dir_ / "missing.h5"), CheckpointError);
  EXPECT_THROW((void)load(dir_), CheckpointError);
  EXPECT_THROW((void)load("/dev/null"), CheckpointError);
}

TEST_F(FileTest, RefusesAFutureFormatVersion) {
  save(small_snapshot(7), path_);
  std::vector<char> bytes = read_bytes(path_);
  bytes[offsetof(Header, version)] = 2;
  EXPECT_THAT(refusal(bytes), HasSubstr("format version 2, expected 1"));
}

TEST_F(FileTest, SavingReplacesTheFileAndLeavesNoOtherFile) {
  save(small_snapshot(1), path_);
  save(small_snapshot(2), path_);
  EXPECT_EQ(load(path_).step(), 2);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1);
}

TEST_F(FileTest, SavingIntoAMissingFolderIsAResourceError) {
  EXPECT_THROW(save(small_snapshot(1), dir_ / "missing" / "a.h5"), ResourceError);
}

}  // namespace
}  // namespace traffic::checkpoint
