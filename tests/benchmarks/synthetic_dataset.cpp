/// Writes a data set for the comparison with PyTorch DDP (compare_phase1.py). All windows have 16
/// vehicles, each with 4 to 12 incoming edges (8 on average), as in the data of the peer. Usage:
/// synthetic_dataset OUT.h5 [FRAMES]
#include <cstdio>
#include <exception>
#include <numeric>
#include <string>
#include <vector>

#include "traffic/core/random.h"
#include "traffic/data/writer.h"

namespace {

using traffic::Rng;

constexpr int kVehicles = 16;
constexpr int kMinInDegree = 4;
constexpr int kMaxInDegree = 12;

traffic::scene::GraphFrame make_frame(int index, Rng& rng) {
  traffic::scene::GraphFrame frame;
  frame.time_s = index;
  frame.edge_ptr.push_back(0);
  std::vector<int> sources(kVehicles);
  for (int i = 0; i < kVehicles; ++i) {
    frame.vehicle_id.push_back(static_cast<std::uint32_t>(i));
    frame.xy_m.insert(frame.xy_m.end(), {static_cast<float>(10 * i), static_cast<float>(i % 3)});
    for (std::size_t f = 0; f < traffic::scene::node_features().size(); ++f) {
      frame.node_features.push_back(static_cast<float>(rng.normal()));
    }
    std::iota(sources.begin(), sources.end(), 0);
    rng.shuffle(std::span<int>(sources));
    std::erase(sources, i);
    const int degree =
        kMinInDegree + static_cast<int>(rng.uniform_int(kMaxInDegree - kMinInDegree + 1));
    for (int k = 0; k < degree; ++k) {
      frame.edge_src.push_back(sources[static_cast<std::size_t>(k)]);
      for (int f = 0; f < traffic::data::kNumEdgeFeatures; ++f) {
        frame.edge_features.push_back(static_cast<float>(rng.normal()));
      }
    }
    sources.push_back(i);
    frame.edge_ptr.push_back(static_cast<std::int32_t>(frame.edge_src.size()));
  }
  return frame;
}

void write(const std::string& path, int frames) {
  Rng rng(1);
  traffic::data::FileInfo info = traffic::data::file_info_of_this_program();
  info.scenario = "synthetic";
  info.controller_names = {"none"};
  traffic::data::DatasetWriter writer(path, info, {.float16 = false, .compression_level = 0});
  for (const auto split : {traffic::data::Split::kTrain, traffic::data::Split::kValidation,
                           traffic::data::Split::kTest}) {
    writer.begin_episode({.seed = static_cast<std::uint64_t>(split), .split = split});
    const int length = split == traffic::data::Split::kTrain ? frames : 100;
    for (int i = 0; i < length; ++i) writer.append(make_frame(i, rng));
    writer.end_episode();
  }
  writer.finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::fprintf(stderr, "usage: %s OUT.h5 [FRAMES]\n", argv[0]);
    return 2;
  }
  try {
    write(argv[1], argc == 3 ? std::stoi(argv[2]) : 1024);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
  return 0;
}
