/// Base of tests that run phase 1 of traffic_train as users do, on a small data set of vehicles
/// that keep their acceleration.
#pragma once

#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "support/run_folder_test.h"
#include "traffic/core/random.h"
#include "traffic/data/writer.h"
#include "traffic/scene/frame.h"

namespace traffic::test {

/// Accelerations of the vehicles in m/s2.
inline constexpr double kAccelerations[] = {-0.3, -0.2, -0.1, 0.0, 0.1, 0.2, 0.3};

/// A frame with a row of vehicles on one lane. Each keeps its acceleration, and has the vehicle
/// with the previous number as its neighbour.
inline scene::GraphFrame make_train_frame(int index, int vehicles, int episode) {
  scene::GraphFrame frame;
  const std::size_t columns = scene::node_features().size();
  frame.time_s = index;
  frame.edge_ptr.push_back(0);
  for (int i = 0; i < vehicles; ++i) {
    const double acceleration =
        kAccelerations[static_cast<std::size_t>(i + 2 * episode) % std::size(kAccelerations)];
    const double first_speed = 25.0 + 0.2 * i;
    const double speed = first_speed + acceleration * index;
    const double position = 30.0 * i + first_speed * index + 0.5 * acceleration * index * index;
    frame.vehicle_id.push_back(static_cast<std::uint32_t>(i));
    frame.xy_m.insert(frame.xy_m.end(), {static_cast<float>(position), 0.0F});
    std::vector<float> row(columns, 0.0F);
    row[static_cast<std::size_t>(scene::node_feature_index("position_m"))] =
        static_cast<float>(position);
    row[static_cast<std::size_t>(scene::node_feature_index("speed_mps"))] =
        static_cast<float>(speed);
    row[static_cast<std::size_t>(scene::node_feature_index("acceleration_mps2"))] =
        static_cast<float>(acceleration);
    row[static_cast<std::size_t>(scene::node_feature_index("leader_gap_m"))] =
        i % 3 == 0 ? 5.0F : 25.0F;
    row[static_cast<std::size_t>(scene::node_feature_index("leader_speed_mps"))] =
        i % 3 == 0 ? -5.0F : 1.0F;
    frame.node_features.insert(frame.node_features.end(), row.begin(), row.end());
    if (i > 0) {
      frame.edge_src.push_back(i - 1);
      frame.edge_features.insert(frame.edge_features.end(), {30.0F, 0.2F, 10.0F, 2.0F});
    }
    frame.edge_ptr.push_back(static_cast<std::int32_t>(frame.edge_src.size()));
  }
  return frame;
}

inline void write_train_data(const fs::path& path,
                             const std::vector<std::string_view>& missing = {},
                             const std::vector<data::Split>& splits = {
                                 data::Split::kTrain, data::Split::kTrain, data::Split::kTrain,
                                 data::Split::kValidation, data::Split::kTest}) {
  data::FileInfo info = data::file_info_of_this_program();
  info.scenario = "row";
  info.controller_names = {"none"};
  data::DatasetWriter writer(path, info, {});
  int seed = 0;
  for (const auto split : splits) {
    writer.begin_episode({.seed = static_cast<std::uint64_t>(seed), .split = split});
    for (int t = 0; t < 60; ++t) writer.append(make_train_frame(t, 20, seed));
    writer.end_episode();
    ++seed;
  }
  writer.mark_missing(missing);
  writer.finish();
}

/// Base of tests whose folder contains the data set row.h5.
class TrainTest : public RunFolderTest {
 protected:
  void SetUp() override {
    RunFolderTest::SetUp();
    write_train_data(dir_ / "row.h5");
  }

  /// The command of a training with a tiny model and few steps. Later arguments override earlier
  /// ones.
  [[nodiscard]] std::string command(int ranks, const std::string& run,
                                    const std::string& arguments = "",
                                    const std::string& environment = "") const {
    return "env " + environment + " " TRAFFIC_SOURCE_DIR "/launch/mpirun.sh -np " +
           std::to_string(ranks) + " " +
           TRAFFIC_BIN_DIR "/traffic_train " TRAFFIC_SOURCE_DIR
                           "/configs/phase1.toml --preset test --run-dir " +
           (dir_ / run).string() + " --set 'data.files=[\"" + (dir_ / "row.h5").string() +
           "\"]' --set model.hidden_dim=32 --set model.num_heads=2 --set model.lstm_hidden=32 "
           "--set train.max_steps=12 "
           "--set data.batch_size=4 --set data.sample_stride_frames=2 --set log.interval_steps=1 "
           "--set comm.timeout_s=60 " +
           arguments;
  }
};

}  // namespace traffic::test
