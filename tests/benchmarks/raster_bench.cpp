/// Measures how long one thread takes to draw an image of a scene from above, in processor time.
/// Usage: bench_raster [number of images]
#include <cstdlib>
#include <ctime>
#include <vector>

#include <fmt/format.h>

#include "../driving/crossing.h"
#include "traffic/driving/raster.h"

namespace {

double processor_s() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace

int main(int argc, char** argv) {
  using namespace traffic::driving;
  const int images = argc > 1 ? std::atoi(argv[1]) : 20'000;
  const RecordedScene scene = testing::crossing_scene(1, 60, 8);
  const MapIndex map(scene.map);
  std::array<std::vector<Box>, kHistory> others;
  for (std::size_t t = 0; t < kHistory; ++t) {
    for (const SceneNode& node : scene.frame(4 - t)) {
      others[t].push_back({.pose = {node.x_m, node.y_m, node.heading_rad},
                           .length_m = 4.6F,
                           .width_m = 1.8F,
                           .speed_mps = node.speed_mps});
    }
  }
  for (const RasterSpec& spec : {kSmallRaster, kFullRaster}) {
    Rasteriser raster(spec);
    std::vector<std::uint8_t> image(spec.num_bytes());
    const double begin_s = processor_s();
    for (int i = 0; i < images; ++i) {
      const SceneNode& ego = scene.nodes[static_cast<std::size_t>(i) % scene.nodes.size()];
      View view;
      view.map = scene.map.get();
      view.ego[0].pose = {ego.x_m, ego.y_m, ego.heading_rad};
      for (std::size_t t = 0; t < kHistory; ++t) view.others[t] = others[t];
      view.route = scene.route(static_cast<std::size_t>(ego.route));
      view.signals = std::span(scene.signals).first(scene.map->signals.size());
      raster.draw(map, view, false, image);
    }
    fmt::print("{}: {:.4f} ms an image\n", spec.name, 1e3 * (processor_s() - begin_s) / images);
  }
  return 0;
}
