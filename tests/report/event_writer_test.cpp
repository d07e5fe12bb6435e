#include <fmt/format.h>
#include <gmock/gmock.h>

#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "report/fixtures.h"
#include "report/tfrecord.h"
#include "traffic/core/process.h"
#include "traffic/report/metrics.h"

namespace traffic::report {
namespace {

using ::testing::ElementsAre;

/// Events that TensorBoard's own reader finds in a folder (tests/report/read_events.py).
nlohmann::json read_with_tensorboard(const std::filesystem::path& dir) {
  const std::string source = TRAFFIC_SOURCE_DIR;
  const std::string command = "PYTHONPATH='" + source + "/.deps/tools' python3 '" + source +
                              "/tests/report/read_events.py' '" + dir.string() + "'";
  FILE* pipe = popen(command.c_str(), "r");
  std::string output;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe)) {
    output.append(buffer.data(), got);
  }
  EXPECT_EQ(pclose(pipe), 0)
      << "read_events.py failed; it needs TensorBoard, which launch/setup.sh --tests installs";
  return nlohmann::json::parse(output, nullptr, false);
}

class EventWriterTest : public FolderTest {};

TEST(Crc32c, HasThePublishedValues) {
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);              // the check value of CRC-32C
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);    // RFC 3720 B.4
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);  // RFC 3720 B.4
}

TEST_F(EventWriterTest, TensorBoardReadsWhatIsWritten) {
  EventWriter writer(dir_);
  writer.write(0, 1000.5, {{"train/loss", 0.5}, {"rollout/ep_rew_mean", -2.25}});
  writer.write(10, 1001.5, {{"train/loss", 0.25}});
  const nlohmann::json scalars = read_with_tensorboard(dir_);
  // The values are exact in float32.
  EXPECT_EQ(scalars["train/loss"], nlohmann::json::parse("[[0, 1000.5, 0.5], [10, 1001.5, 0.25]]"));
  EXPECT_EQ(scalars["rollout/ep_rew_mean"], nlohmann::json::parse("[[0, 1000.5, -2.25]]"));
  EXPECT_EQ(writer.num_lost(), 0);
}

TEST_F(EventWriterTest, CurvesDoNotGoBackWhenARunIsResumed) {
  EventWriter first(dir_);
  for (const int step : {10, 20, 30, 40}) first.write(step, step, {{"loss", 1.0}});
  EventWriter second(dir_, 20);
  for (const int step : {30, 40, 50}) second.write(step, 100 + step, {{"loss", 2.0}});
  const nlohmann::json scalars = read_with_tensorboard(dir_);
  std::vector<std::pair<int, double>> points;
  for (const auto& event : scalars["loss"]) points.emplace_back(event[0], event[2]);
  EXPECT_THAT(points, ElementsAre(std::pair(10, 1.0), std::pair(20, 1.0), std::pair(30, 2.0),
                                  std::pair(40, 2.0), std::pair(50, 2.0)));
}

TEST_F(EventWriterTest, FilesSortByTheOrderOfRunsEvenIfTheClockWentBack) {
  write_text(dir_ / "events.out.tfevents.9000000000.host.1", "");
  EventWriter writer(dir_);
  const std::string name =
      fmt::format("events.out.tfevents.9000000001.{}.{}", hostname(), getpid());
  EXPECT_TRUE(std::filesystem::exists(dir_ / name));
}

TEST_F(EventWriterTest, FolderThatCannotBeCreatedIsCountedNotThrown) {
  write_text(dir_ / "file", "");
  EventWriter writer(dir_ / "file" / "tensorboard");
  writer.write(1, 1.0, {{"loss", 1.0}});
  EXPECT_EQ(writer.num_lost(), 1);
}

}  // namespace
}  // namespace traffic::report
