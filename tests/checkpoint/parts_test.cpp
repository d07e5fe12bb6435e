#include "traffic/checkpoint/parts.h"

#include <gmock/gmock.h>

#include <fstream>

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
  /// A checkpoint that names parts with these contents, and brings them.
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
    manager_.remove_unnamed_parts();
  }
  [[nodiscard]] fs::path place_of(const std::string& content) const {
    return folder_ / "parts" / part_name(bytes_of(content));
  }
  [[nodiscard]] std::ptrdiff_t num_files() const {
    return std::distance(fs::directory_iterator(folder_ / "parts"), fs::directory_iterator());
  }

  fs::path folder_ = dir_ / "checkpoints";
  CheckpointManager manager_{folder_, 2, "snakes"};
};

TEST_F(PartsTest, AreThereOnceForAllCheckpointsThatNameThemAndGoWithTheLast) {
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

TEST_F(PartsTest, ThoseOfTheBestStay) {
  save(naming(1, {"a"}), /*best=*/true);
  for (const std::int64_t step : {2, 3, 4}) save(naming(step, {"b"}));
  EXPECT_TRUE(fs::exists(place_of("a")));
}

TEST_F(PartsTest, AreReadBackAlsoByACheckpointThatWasMovedAside) {
  save(naming(1, {"a"}));
  save(naming(2, {"a", "b"}));
  EXPECT_EQ(read_part(load(manager_.step_path(2)), part_name(bytes_of("b"))), bytes_of("b"));
  const fs::path aside = manager_.leave_behind(manager_.step_path(1));
  save(naming(2, {"c"}));
  const Snapshot moved = load(aside / "step-000000002.h5");
  EXPECT_EQ(read_part(moved, part_name(bytes_of("b"))), bytes_of("b"));
}

TEST_F(PartsTest, ACheckpointWithoutThemOrWithDamagedOnesIsPassedOver) {
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

}  // namespace
}  // namespace traffic::checkpoint
