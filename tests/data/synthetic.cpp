#include "synthetic.h"

#include <stdlib.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "traffic/core/error.h"
#include "traffic/core/random.h"

namespace traffic::data::test {
namespace {

struct Car {
  std::uint32_t id;
  std::int64_t from;
  std::int64_t until;
  std::int64_t absent_from;  ///< gaps in a track test the search for samples without gaps
  std::int64_t absent_until;
  float position;
  float speed;
  float lane;
};

std::size_t column(std::string_view name) {
  return static_cast<std::size_t>(scene::node_feature_index(name));
}

std::vector<Car> make_cars(const TrafficSpec& spec, Rng& rng) {
  std::vector<Car> cars;
  for (std::int64_t i = 0; i < spec.vehicles; ++i) {
    const auto frames = static_cast<std::uint64_t>(spec.frames);
    Car car{};
    car.id = static_cast<std::uint32_t>(i);
    car.from = static_cast<std::int64_t>(rng.uniform_int(frames));
    car.until = car.from + 1 + static_cast<std::int64_t>(rng.uniform_int(frames));
    if (i < 5) car.from = 0, car.until = spec.frames;
    car.absent_from = car.from + 1 + static_cast<std::int64_t>(rng.uniform_int(30));
    car.absent_until = car.absent_from + static_cast<std::int64_t>(rng.uniform_int(3));
    car.position = static_cast<float>(rng.uniform(0, 500));
    car.speed = static_cast<float>(rng.uniform(2, 30));
    car.lane = static_cast<float>(rng.uniform_int(3));
    cars.push_back(car);
  }
  return cars;
}

void append_node(const Car& car, float acceleration, Rng& rng, scene::GraphFrame& frame) {
  std::vector<float> row(scene::node_features().size());
  for (float& value : row) value = static_cast<float>(rng.uniform(-1, 1));
  row[column(kPositionFeature)] = car.position;
  row[column(kSpeedFeature)] = car.speed;
  row[column(kAccelerationFeature)] = acceleration;
  row[column(kLaneFeature)] = car.lane;
  row[column(kLeaderGapFeature)] = static_cast<float>(rng.uniform(0, 60));
  row[column(kLeaderRelativeSpeedFeature)] = static_cast<float>(rng.uniform(-10, 10));
  frame.vehicle_id.push_back(car.id);
  frame.xy_m.push_back(car.position);
  frame.xy_m.push_back(3.2F * car.lane);
  frame.node_features.insert(frame.node_features.end(), row.begin(), row.end());
}

void append_edges(double share, Rng& rng, scene::GraphFrame& frame) {
  frame.edge_ptr.push_back(0);
  const auto nodes = static_cast<std::int32_t>(frame.vehicle_id.size());
  const bool no_edges = rng.uniform() < 0.1;
  for (std::int32_t node = 0; node < nodes; ++node) {
    for (std::int32_t other = 0; other < nodes && !no_edges; ++other) {
      if (other == node || rng.uniform() > share) continue;
      frame.edge_src.push_back(other);
      for (int k = 0; k < kNumEdgeFeatures; ++k) {
        frame.edge_features.push_back(static_cast<float>(rng.uniform(0, 50)));
      }
    }
    frame.edge_ptr.push_back(static_cast<std::int32_t>(frame.edge_src.size()));
  }
}

}  // namespace

std::vector<scene::GraphFrame> make_traffic(const TrafficSpec& spec) {
  Rng rng(spec.seed);
  auto cars = make_cars(spec, rng);
  std::vector<scene::GraphFrame> frames;
  for (std::int64_t t = 0; t < spec.frames; ++t) {
    scene::GraphFrame frame;
    frame.time_s = static_cast<double>(t + 1);
    for (Car& car : cars) {
      const auto acceleration = static_cast<float>(rng.uniform(-2, 2));
      car.speed = std::max(0.0F, car.speed + acceleration);
      car.position += car.speed;
      if (rng.uniform() < 0.1) car.lane = static_cast<float>(rng.uniform_int(3));
      const bool on_road = t >= car.from && t < car.until;
      const bool absent = t >= car.absent_from && t < car.absent_until;
      if (on_road && !absent) append_node(car, acceleration, rng, frame);
    }
    append_edges(spec.edge_share, rng, frame);
    for (float& value : frame.global_features) value = static_cast<float>(rng.uniform(0, 20));
    frames.push_back(std::move(frame));
  }
  return frames;
}

FileInfo test_info() {
  FileInfo info = file_info_of_this_program();
  info.scenario = "synthetic";
  info.step_length_s = 1.0;
  info.frame_interval_s = 1.0;
  info.program_version = "test";
  info.sumo_version = "none";
  info.command_line = "a test";
  info.created_utc = "2025-01-01T00:00:00Z";
  info.splitting = "as given";
  info.controller_names = {"none", "random"};
  return info;
}

void write_file(const std::filesystem::path& path, const std::vector<EpisodeSpec>& episodes,
                const WriterOptions& options) {
  DatasetWriter writer(path, test_info(), options);
  for (const auto& episode : episodes) {
    writer.begin_episode({.seed = episode.traffic.seed, .split = episode.split});
    for (const auto& frame : make_traffic(episode.traffic)) writer.append(frame);
    writer.end_episode();
  }
  writer.finish();
}

std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

void write_bytes(const std::filesystem::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary) << bytes;
}

TempDir::TempDir() {
  std::string pattern = (std::filesystem::temp_directory_path() / "traffic-data-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) throw Error("cannot make a folder for the test");
  path_ = pattern;
}

TempDir::~TempDir() {
  std::error_code error;
  std::filesystem::remove_all(path_, error);
}

}  // namespace traffic::data::test
