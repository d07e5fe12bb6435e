/// Synthetic traffic for tests: vehicles appear, drive, are absent for some frames and leave.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "traffic/data/format.h"
#include "traffic/data/writer.h"
#include "traffic/scene/frame.h"

namespace traffic::data::test {

struct TrafficSpec {
  std::uint64_t seed = 1;
  std::int64_t frames = 40;
  std::int64_t vehicles = 30;  ///< number of vehicles in the whole episode
  double edge_share = 0.4;     ///< share of the pairs of vehicles in a frame that have an edge
};

/// Makes one episode. Positions grow by the speed. Some vehicles are absent for a frame or two,
/// some are in conflict because of their gaps and relative speeds, and some frames have no edges.
std::vector<scene::GraphFrame> make_traffic(const TrafficSpec& spec);

struct EpisodeSpec {
  TrafficSpec traffic;
  Split split = Split::kTrain;
};

/// Writes episodes to a file.
void write_file(const std::filesystem::path& path, const std::vector<EpisodeSpec>& episodes,
                const WriterOptions& options = {});

/// The FileInfo of test files.
FileInfo test_info();

std::string read_bytes(const std::filesystem::path& path);
void write_bytes(const std::filesystem::path& path, const std::string& bytes);

/// A temporary folder; the destructor removes it.
class TempDir {
 public:
  TempDir();
  ~TempDir();
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  [[nodiscard]] std::filesystem::path operator/(const std::string& name) const {
    return path_ / name;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace traffic::data::test
