// Names the folder with the saved traffic in which episodes begin.
#include "traffic/rollout/traffic/episode.h"

#include "traffic/core/hash.h"

namespace traffic::rollout {

std::filesystem::path piece_folder(const std::string& cache, std::uint64_t key) {
  return std::filesystem::path(cache) / ("traffic-" + hex64(key));
}

}  // namespace traffic::rollout
