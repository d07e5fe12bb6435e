#include "run/staged_files.h"

#include "apps/train_fixture.h"
#include "support/alone_communicator.h"
#include "traffic/core/error.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

class StagedFilesTest : public test::TrainTest {
 protected:
  StagedFilesTest() { data_.max_bad_file_share = 0.0; }
  void SetUp() override {
    TrainTest::SetUp();
    data_.files = {(dir_ / "*.h5").string()};
    data_.stage_dir = (dir_ / "copies").string();
  }
  [[nodiscard]] config::Data staged() { return with_staged_files(data_, communicator_); }
  static std::string content_of(const fs::path& path) {
    std::ifstream in(path, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

  config::Data data_;
  test::AloneCommunicator communicator_;
};

TEST_F(StagedFilesTest, ACopyEqualsItsSourceAndIsUsedAgain) {
  const config::Data first = staged();
  ASSERT_EQ(first.files.size(), 1U);
  EXPECT_EQ(fs::path(first.files[0]).parent_path(), dir_ / "copies");
  EXPECT_EQ(content_of(first.files[0]), content_of(dir_ / "row.h5"));
  const auto made = fs::last_write_time(first.files[0]);
  EXPECT_EQ(staged().files, first.files);
  EXPECT_EQ(fs::last_write_time(first.files[0]), made);
}

TEST_F(StagedFilesTest, AFileThatHasChangedIsCopiedAgain) {
  const config::Data first = staged();
  test::write_train_data(dir_ / "row.h5", {"speed_mps"});
  const config::Data second = staged();
  EXPECT_NE(second.files, first.files);
  EXPECT_EQ(content_of(second.files[0]), content_of(dir_ / "row.h5"));
  EXPECT_TRUE(fs::exists(first.files[0]))
      << "old copies must stay, because other programs may read them";
}

TEST_F(StagedFilesTest, AnIncompleteCopyIsMadeAgain) {
  const config::Data first = staged();
  fs::resize_file(first.files[0], 100);
  EXPECT_EQ(staged().files, first.files);
  EXPECT_EQ(content_of(first.files[0]), content_of(dir_ / "row.h5"));
}

TEST_F(StagedFilesTest, UnreadableFilesAreNotCopiedUpToTheAllowedShare) {
  std::ofstream(dir_ / "bad.h5") << "no data";
  EXPECT_THROW(staged(), Error);
  data_.max_bad_file_share = 0.6;
  EXPECT_EQ(staged().files[0], (dir_ / "bad.h5").string());
}

TEST_F(StagedFilesTest, WithoutAFolderFilesAreReadWhereTheyAre) {
  data_.stage_dir.clear();
  EXPECT_EQ(staged().files, data_.files);
}

}  // namespace
}  // namespace traffic::train
