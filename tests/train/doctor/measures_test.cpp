#include <gmock/gmock.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

#include "train/doctor/numa.h"
#include "train/doctor/recordings.h"
#include "train/doctor/storage.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

class MeasuresTest : public ::testing::Test {
 protected:
  void SetUp() override { fs::create_directories(dir_); }
  void TearDown() override { fs::remove_all(dir_); }

  fs::path dir_ = fs::temp_directory_path() / ("doctor_measures_" + std::to_string(getpid()));
};

TEST_F(MeasuresTest, AFolderIsMeasuredAndLeftAsItWas) {
  const StorageFacts facts = measure_storage(dir_);
  EXPECT_FALSE(facts.type.empty());
  EXPECT_GT(facts.write_bytes_per_s, 0.0);
  EXPECT_GT(facts.small_file_s, 0.0);
  EXPECT_TRUE(facts.locks);
  EXPECT_GT(facts.free_bytes, 0);
  EXPECT_TRUE(fs::is_empty(dir_));
  EXPECT_THROW(measure_storage(dir_ / "none"), Error);
}

TEST_F(MeasuresTest, SlowDisksAndThoseWithoutLocksAreWarnedOf) {
  const StorageFacts good{.folder = "runs",
                          .type = "xfs",
                          .write_bytes_per_s = 500e6,
                          .small_file_s = 0.002,
                          .locks = true,
                          .free_bytes = std::int64_t{100} << 30};
  EXPECT_EQ(judge_storage(good).verdict, Verdict::kOk);
  EXPECT_THAT(judge_storage(good).found, HasSubstr("runs is writable, 100.0 GiB free; xfs"));
  StorageFacts unlocked = good;
  unlocked.locks = false;
  EXPECT_EQ(judge_storage(unlocked).verdict, Verdict::kWarning);
  EXPECT_THAT(judge_storage(unlocked).found, HasSubstr("does not support locks"));
  StorageFacts slow = good;
  slow.write_bytes_per_s = 3e6;
  EXPECT_THAT(judge_storage(slow).found, HasSubstr("checkpoint.save_interval_s"));
  slow = good;
  slow.small_file_s = 2.0;
  EXPECT_EQ(judge_storage(slow).verdict, Verdict::kWarning);
}

TEST_F(MeasuresTest, NumaNodesAreThoseWithCpusOfThisProcess) {
  for (const auto& [node, list] :
       {std::pair{"node0", "0-3,8-11"}, std::pair{"node1", "4-7,12-15"}, std::pair{"node2", ""}}) {
    fs::create_directories(dir_ / node);
    std::ofstream(dir_ / node / "cpulist") << list << "\n";
  }
  std::ofstream(dir_ / "online") << "0-2\n";
  const NumaFacts one = numa_of(dir_, std::array{1, 9});
  EXPECT_EQ(one.nodes, 2);
  EXPECT_EQ(one.of_this_process, 1);
  EXPECT_EQ(judge_numa(one).verdict, Verdict::kOk);
  const NumaFacts both = numa_of(dir_, std::array{3, 12});
  EXPECT_EQ(both.of_this_process, 2);
  EXPECT_THAT(judge_numa(both).found, HasSubstr("--bind-to numa"));
  // If the kernel lists no NUMA nodes, there is one.
  EXPECT_EQ(numa_of(dir_ / "none", std::array{0}).of_this_process, 1);
}

TEST(JudgeRecordings, NamesWhatIsMissing) {
  const config::Data data;
  const RecordingFacts good{.files = 2, .train = 900, .validation = 50, .test = 60};
  EXPECT_EQ(judge_recordings(good, data, 1234.0).verdict, Verdict::kOk);
  EXPECT_THAT(judge_recordings(good, data, 1234.0).found,
              AllOf(HasSubstr("900 train, 50 validation, 60 test"), HasSubstr("1234 samples/s")));
  RecordingFacts empty = good;
  empty.validation = 0;
  const Finding finding = judge_recordings(empty, data, 1234.0);
  EXPECT_EQ(finding.verdict, Verdict::kFailed);
  EXPECT_EQ(finding.code, ExitCode::kData);
  EXPECT_THAT(finding.found,
              AllOf(HasSubstr("no samples for validation"), Not(HasSubstr("samples for test"))));
  RecordingFacts skipped = good;
  skipped.skipped = {"a.h5: damaged"};
  EXPECT_EQ(judge_recordings(skipped, data, 1.0).verdict, Verdict::kWarning);
}

}  // namespace
}  // namespace traffic::train
