/// Runs data_prep convert on unusual and broken recordings. Each case states either the traffic
/// that must be in the data set, or the message with which convert refuses the file. The traffic is
/// always a part of straight_traffic(), so that each case differs from a sound recording in one
/// respect.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "recordings.h"
#include "support/run_folder_test.h"
#include "traffic/data/episode_frames.h"
#include "traffic/data/reader.h"
#include "traffic/data/verify.h"
#include "traffic/data/writer.h"

namespace traffic::odd {
namespace {

namespace fs = std::filesystem;
using data::DatasetReader;
using testing::HasSubstr;

float feature(const scene::GraphFrame& frame, std::size_t node, std::string_view name) {
  const auto column = static_cast<std::size_t>(scene::node_feature_index(name));
  return frame.node_features[node * scene::node_features().size() + column];
}

class OddRecordings : public test::RunFolderTest {
 protected:
  std::string write(const std::string& name, const std::string& bytes) const {
    std::ofstream(dir_ / name, std::ios::binary) << bytes;
    return dir_ / name;
  }
  /// Runs convert, but at most for a limited time, so that an input that never ends fails the test.
  [[nodiscard]] test::Outcome convert(const std::string& input,
                                      const std::string& arguments = "") const {
    return test::run_program(TRAFFIC_BIN_DIR "/data_prep convert " + input + " " + arguments +
                                 " --episode-s 0 --out " + (dir_ / "out/out.h5").string(),
                             30);
  }
  [[nodiscard]] DatasetReader result() const { return DatasetReader(dir_ / "out/out.h5"); }

  void expect_refusal(const std::string& input, const std::string& said,
                      const std::string& arguments = "") const {
    const auto done = convert(input, arguments);
    EXPECT_EQ(done.exit_code, 3) << done.output;
    EXPECT_THAT(done.output, HasSubstr(said));
    EXPECT_TRUE(!fs::exists(dir_ / "out") || fs::is_empty(dir_ / "out"))
        << "the refused conversion left a file behind";
  }

  /// Compares a frame of the data set with the moment of the traffic that it must show. Each car is
  /// on a lane of its own, so the lane identifies the car.
  void expect_moment(const scene::GraphFrame& frame, const Moment& moment, double tolerance_m) {
    EXPECT_NEAR(frame.time_s, moment.time_s, 1e-3);
    ASSERT_EQ(frame.vehicle_id.size(), moment.cars.size()) << "at " << moment.time_s << " s";
    for (const Car& car : moment.cars) {
      std::size_t node = 0;
      while (node + 1 < frame.vehicle_id.size() &&
             static_cast<int>(feature(frame, node, "lane_index")) != car.lane) {
        ++node;
      }
      const std::string where = fmt::format("{} at {} s", car.id, moment.time_s);
      EXPECT_EQ(feature(frame, node, "lane_index"), static_cast<float>(car.lane)) << where;
      EXPECT_NEAR(frame.xy_m[2 * node], car.x_m, tolerance_m) << where;
      EXPECT_NEAR(frame.xy_m[2 * node + 1], car.y_m, tolerance_m) << where;
      EXPECT_NEAR(feature(frame, node, "speed_mps"), car.speed_mps, 1e-3) << where;
      const auto [seen, is_new] = seen_.try_emplace(car.id, Seen{frame.vehicle_id[node], car});
      EXPECT_EQ(seen->second.number, frame.vehicle_id[node])
          << where << " has the number of another vehicle";
      const double way_m =
          std::hypot(car.x_m - seen->second.first.x_m, car.y_m - seen->second.first.y_m);
      EXPECT_NEAR(feature(frame, node, "position_m"), way_m, 2e-3) << where;
    }
  }

  void expect_traffic(const Traffic& traffic, double tolerance_m) {
    const DatasetReader file = result();
    EXPECT_THAT(data::find_problems(file), testing::IsEmpty());
    ASSERT_EQ(file.num_frames(), static_cast<std::int64_t>(traffic.size()));
    for (std::size_t t = 0; t < traffic.size() && !HasFailure(); ++t) {
      expect_moment(file.read_graph_frame(static_cast<std::int64_t>(t)), traffic[t], tolerance_m);
    }
    std::set<std::uint32_t> numbers;
    for (const auto& [id, seen] : seen_) numbers.insert(seen.number);
    EXPECT_EQ(numbers.size(), seen_.size()) << "two vehicles have the same number";
  }

 private:
  struct Seen {
    std::uint32_t number;
    Car first;
  };
  std::map<std::string, Seen> seen_;
};

class OddRecording : public OddRecordings, public testing::WithParamInterface<Case> {};

TEST_P(OddRecording, IsConvertedCorrectlyOrRefused) {
  const Case& one = GetParam();
  for (const auto& [name, bytes] : one.beside) write(name, bytes);
  const std::string input = write(one.file, one.content);
  if (one.expected.empty()) {
    expect_refusal(input, one.said, one.arguments);
    return;
  }
  const auto done = convert(input, one.arguments);
  ASSERT_EQ(done.exit_code, 0) << done.output;
  EXPECT_THAT(done.output, HasSubstr(one.said));
  expect_traffic(one.expected, one.tolerance_m);
}

INSTANTIATE_TEST_SUITE_P(Tables, OddRecording, testing::ValuesIn(table_cases()),
                         [](const auto& one) { return one.param.name; });
INSTANTIATE_TEST_SUITE_P(Formats, OddRecording, testing::ValuesIn(format_cases()),
                         [](const auto& one) { return one.param.name; });

TEST_F(OddRecordings, PathsWithoutAReadableFileAreRefused) {
  fs::create_directory(dir_ / "folder");
  fs::create_symlink("loop", dir_ / "loop");
  expect_refusal(dir_ / "folder", "metadata.json: the file does not exist");
  expect_refusal(dir_ / "folder", "folder: is a folder; --from fcd takes files", "--from fcd");
  expect_refusal(dir_ / "loop", "loop: cannot be opened: Too many levels of symbolic links");
  expect_refusal(dir_ / std::string(300, 'a'), "cannot be opened: File name too long");
  expect_refusal(dir_ / "nothing.csv", "nothing.csv: cannot be opened: No such file");
  expect_refusal("/dev/null", "/dev/null: is empty");
  expect_refusal("/dev/zero", "/dev/zero: is UTF-16 or not a text");
  // The test may run as root, who may read any file. But nobody can read this one.
  expect_refusal("/proc/self/mem", "/proc/self/mem: the rest cannot be read: Input/output error");

  const int server = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  const std::string path = dir_ / "socket";
  ASSERT_LT(path.size(), sizeof(address.sun_path));
  path.copy(address.sun_path, path.size());
  ASSERT_EQ(::bind(server, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  expect_refusal(path, "socket: cannot be opened: No such device or address");
  ::close(server);
}

TEST_F(OddRecordings, AnOutputPathThatCannotExistIsRefused) {
  const std::string input = write("a.csv", table());
  const auto done = test::run_program(TRAFFIC_BIN_DIR "/data_prep convert " + input + " --out " +
                                      (dir_ / std::string(300, 'a')).string() + ".h5");
  EXPECT_EQ(done.exit_code, 2);
  EXPECT_THAT(done.output, HasSubstr("File name too long; check the path"));
}

TEST_F(OddRecordings, APipeIsReadAndAnEmptyOneRefused) {
  const std::string input = write("a.csv", table());
  const std::string pipe = dir_ / "pipe";
  ASSERT_EQ(test::run_program("mkfifo " + pipe).exit_code, 0);
  {
    test::BackgroundProgram silent("sh -c ': >" + pipe + "'");
    expect_refusal(pipe, "pipe: is empty");
    EXPECT_EQ(silent.wait(), 0);
  }
  test::BackgroundProgram feeder("sh -c 'cat " + input + " >" + pipe + "'");
  const auto done = convert(pipe);
  ASSERT_EQ(done.exit_code, 0) << done.output;
  EXPECT_EQ(feeder.wait(), 0);
  expect_traffic(plain(), 2e-3);
}

TEST_F(OddRecordings, CompressedFilesAreReadOrRefused) {
  const std::string input = write("a.csv", table());
  const auto shell = [](const std::string& command) {
    ASSERT_EQ(test::run_program("sh -c '" + command + "'").exit_code, 0) << command;
  };
  const std::string gz = dir_ / "a.csv.gz";
  shell("gzip -c " + input + " >" + gz);
  const auto done = convert(gz);
  ASSERT_EQ(done.exit_code, 0) << done.output;
  expect_traffic(plain(), 2e-3);
  fs::remove_all(dir_ / "out");

  std::ifstream file(gz, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  expect_refusal(write("cut.gz", bytes.substr(0, bytes.size() / 2)),
                 "cut.gz: the rest cannot be read");
  std::string changed = bytes;
  for (std::size_t i = 0; i < 4; ++i) changed[changed.size() - 8 + i] ^= 0x55;  // gzip's checksum
  expect_refusal(write("changed.gz", changed),
                 "changed.gz: the rest cannot be read: incorrect data check");
  expect_refusal(write("magic.gz", bytes.substr(0, 2)), "magic.gz: the rest cannot be read");
  shell("gzip -c " + gz + " >" + (dir_ / "twice.gz").string());
  expect_refusal(dir_ / "twice.gz", "unpack archives other than gzip");
  expect_refusal(write("a.zip", std::string("PK\x03\x04\x14\0\0\0\x08\0", 10) + bytes),
                 "unpack archives other than gzip");
}

/// Gives a data set another frame interval and changes its frames.
void rewrite(const fs::path& from, const fs::path& to, double interval_s,
             const std::function<void(scene::GraphFrame&, int)>& change) {
  const DatasetReader source(from);
  data::FileInfo info = source.info();
  info.frame_interval_s = info.step_length_s = interval_s;
  data::DatasetWriter writer(to, info, data::writer_options_of(source));
  writer.begin_episode(data::label_of(source.episodes().front()));
  for (std::int64_t t = 0; t < source.num_frames(); ++t) {
    scene::GraphFrame frame = source.read_graph_frame(t);
    frame.time_s *= interval_s;
    change(frame, static_cast<int>(t));
    writer.append(frame);
  }
  writer.end_episode();
  writer.finish();
}

TEST_F(OddRecordings, VerifyNamesImpossibleMovements) {
  ASSERT_EQ(convert(write("a.csv", table())).exit_code, 0);
  const auto set = [](scene::GraphFrame& frame, std::string_view name, float value) {
    const auto column = static_cast<std::size_t>(scene::node_feature_index(name));
    frame.node_features[scene::node_features().size() + column] = value;  // of vehicle 1
  };
  using Change = std::function<void(scene::GraphFrame&, int)>;
  struct Impossible {
    Change change;
    std::string said;
    double interval_s = 1;
  };
  const std::vector<Impossible> all{
      {[&](auto& f, int t) {
         if (t == 4) set(f, "speed_mps", 300);
       },
       "odd.h5: episode 0, frame 4 at 5 s: vehicle 1 has a speed of 300 m/s, expected 0 to 150"},
      {[&](auto& f, int t) {
         if (t == 4) set(f, "acceleration_mps2", -40);
       },
       "episode 0, frame 4 at 5 s: vehicle 1 has an acceleration of -40 m/s2, expected at most 30"},
      {[&](auto& f, int t) {
         if (t >= 4) set(f, "speed_mps", 60);
       },
       "episode 0, frame 4 at 5 s: vehicle 1 goes from 12 to 60 m/s within 1 s"},
      {[&](auto& f, int t) {
         if (t >= 4) set(f, "position_m", 12.0F * static_cast<float>(t) + 500);
       },
       "episode 0, frame 4 at 5 s: vehicle 1 covers 512 m in 1 s with speeds of 12 and 12 m/s"},
      {[](auto& f, int) {
         for (float& x : f.xy_m) x *= 1e-5F;
       },
       "the coordinates may be degrees"},
      {[](auto& f, int) {
         for (float& x : f.xy_m) x *= 3.2808F;
       },
       "the coordinates may be feet"},
      {[](auto&, int) {}, "the speeds may have been divided by 3.6 once too often", 1 / 3.6},
      {[](auto&, int) {}, "the times may be milliseconds", 1000},
  };
  for (const auto& [change, said, interval_s] : all) {
    rewrite(dir_ / "out/out.h5", dir_ / "odd.h5", interval_s, change);
    EXPECT_THAT(data::find_problems(DatasetReader(dir_ / "odd.h5")),
                testing::Contains(HasSubstr(said)));
  }
  const auto done =
      test::run_program(TRAFFIC_BIN_DIR "/data_prep verify " + (dir_ / "odd.h5").string());
  EXPECT_EQ(done.exit_code, 3);
  EXPECT_THAT(done.output, HasSubstr(all.back().said));
}

TEST_F(OddRecordings, VerifyRefusesARecordingAndADamagedFile) {
  const auto verify = [&](const std::string& path) {
    return test::run_program(TRAFFIC_BIN_DIR "/data_prep verify " + path);
  };
  const auto recording = verify(write("a.csv", table()));
  EXPECT_EQ(recording.exit_code, 3);
  EXPECT_THAT(recording.output, HasSubstr("a.csv"));
  ASSERT_EQ(convert(dir_ / "a.csv").exit_code, 0);
  // A data set is no recording either, whatever its name.
  fs::copy(dir_ / "out/out.h5", dir_ / "hdf5.csv");
  fs::remove_all(dir_ / "out");
  expect_refusal(dir_ / "hdf5.csv", "hdf5.csv: is UTF-16 or not a text");
  fs::resize_file(dir_ / "hdf5.csv", fs::file_size(dir_ / "hdf5.csv") / 2);
  EXPECT_EQ(verify(dir_ / "hdf5.csv").exit_code, 3);
}

TEST_F(OddRecordings, WithoutAnglesTheMovementShowsWhoIsAhead) {
  // The same cars drive to the left. Car 2 has driven farthest, so it is ahead of car 1.
  const Traffic left = edited(straight_traffic(), [](Moment& moment, int) {
    for (Car& car : moment.cars) car.x_m = -car.x_m;
  });
  const std::string text =
      with_column(with_column(table(left), kAngle, fixed("")), kPos, times(-1));
  const auto done = convert(write("a.csv", text));
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const auto frame = result().read_graph_frame(5);
  const auto first = static_cast<std::size_t>(frame.edge_ptr[1]);
  const auto end = static_cast<std::size_t>(frame.edge_ptr[2]);
  bool found = false;
  for (std::size_t edge = first; edge < end; ++edge) {
    if (frame.edge_src[edge] != 2) continue;
    found = true;
    EXPECT_NEAR(frame.edge_features[edge * data::kNumEdgeFeatures], 10, 1e-3);  // 5 s at 2 m/s
  }
  EXPECT_TRUE(found);
}

}  // namespace
}  // namespace traffic::odd
