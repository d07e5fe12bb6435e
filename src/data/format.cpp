// The columns of the file format of recorded traffic, and the names of splits and element types.
#include "traffic/data/format.h"

#include <fmt/ranges.h>

#include "traffic/core/error.h"

namespace traffic::data {
namespace {

// Rows per chunk. A chunk has 30 to 450 KiB. Reading a range of frames decodes whole chunks. Chunks
// are small, so that few rows outside of the range are decoded at its two ends.
constexpr int kNodeChunk = 2048;
constexpr int kSmallNodeChunk = 8192;
constexpr int kEdgeChunk = 16384;
constexpr int kFrameChunk = 4096;
constexpr int kEpisodeChunk = 256;

using E = Element;
constexpr std::array<ColumnSpec, kNumColumns> kColumns{{
    {{"episodes", "seed", E::kU64, false, 1, 1, kEpisodeChunk},
     Column::kEpisodeSeed,
     Rows::kEpisodes},
    {{"episodes", "first_frame", E::kI64, false, 1, 1, kEpisodeChunk},
     Column::kEpisodeFirstFrame,
     Rows::kEpisodes},
    {{"episodes", "num_frames", E::kI64, false, 1, 1, kEpisodeChunk},
     Column::kEpisodeNumFrames,
     Rows::kEpisodes},
    {{"episodes", "split", E::kU8, false, 1, 1, kEpisodeChunk},
     Column::kEpisodeSplit,
     Rows::kEpisodes},
    {{"episodes", "demand_scale", E::kF64, false, 1, 1, kEpisodeChunk},
     Column::kEpisodeDemandScale,
     Rows::kEpisodes},
    {{"episodes", "controller", E::kU8, false, 1, 1, kEpisodeChunk},
     Column::kEpisodeController,
     Rows::kEpisodes},
    {{"frames", "time_s", E::kF64, false, 1, 1, kFrameChunk}, Column::kFrameTime, Rows::kFrames},
    {{"frames", "node_ptr", E::kI64, false, 1, 1, kFrameChunk},
     Column::kFrameNodePtr,
     Rows::kFramePtr},
    {{"frames", "edge_ptr", E::kI64, false, 1, 1, kFrameChunk},
     Column::kFrameEdgePtr,
     Rows::kFramePtr},
    {{"frames", "global_features", E::kF32, false, 2, kNumGlobalFeatures, kFrameChunk / 4},
     Column::kFrameGlobalFeatures,
     Rows::kFrames},
    {{"nodes", "features", E::kF32, true, 2, 0, kNodeChunk}, Column::kNodeFeatures, Rows::kNodes},
    {{"nodes", "position_m", E::kF32, false, 1, 1, kSmallNodeChunk},
     Column::kNodePosition,
     Rows::kNodes},
    {{"nodes", "xy_m", E::kF32, false, 2, 2, kSmallNodeChunk}, Column::kNodeXy, Rows::kNodes},
    {{"nodes", "vehicle_id", E::kU32, false, 1, 1, kSmallNodeChunk},
     Column::kNodeVehicleId,
     Rows::kNodes},
    {{"nodes", "in_degree", E::kU16, false, 1, 1, kSmallNodeChunk},
     Column::kNodeInDegree,
     Rows::kNodes},
    {{"edges", "src", E::kI32, false, 1, 1, kEdgeChunk}, Column::kEdgeSrc, Rows::kEdges},
    {{"edges", "features", E::kF32, true, 2, kNumEdgeFeatures, kEdgeChunk},
     Column::kEdgeFeatures,
     Rows::kEdges},
}};

}  // namespace

std::string_view to_string(Split split) {
  switch (split) {
    case Split::kTrain:
      return "train";
    case Split::kValidation:
      return "validation";
    case Split::kTest:
      return "test";
  }
  return "unknown";
}

FeatureTable feature_table(std::span<const scene::FeatureSpec> specs) {
  FeatureTable table;
  table.reserve(specs.size());
  for (const auto& spec : specs) {
    table.push_back({std::string(spec.name), std::string(spec.unit), spec.offset, spec.scale});
  }
  return table;
}

int feature_index(const FeatureTable& table, std::string_view name) {
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (table[i].name == name) return static_cast<int>(i);
    names.emplace_back(table[i].name);
  }
  throw DataError("there is no feature '{}'; the data have: {}", name, fmt::join(names, ", "));
}

void mark_missing(FeatureTable& table, std::string_view name) {
  for (Feature& feature : table) feature.present = feature.present && feature.name != name;
}

std::vector<std::string> missing_features(const FileInfo& info) {
  std::vector<std::string> names;
  for (const auto* table : {&info.node_features, &info.edge_features, &info.global_features}) {
    for (const Feature& feature : *table) {
      if (!feature.present) names.push_back(feature.name);
    }
  }
  return names;
}

FileInfo file_info_of_this_program() {
  FileInfo info;
  info.node_features = feature_table(scene::node_features());
  info.edge_features = feature_table(scene::edge_features());
  info.global_features = feature_table(scene::global_features());
  return info;
}

std::size_t size_of(Element element) {
  switch (element) {
    case E::kU8:
      return 1;
    case E::kU16:
    case E::kF16:
      return 2;
    case E::kU32:
    case E::kI32:
    case E::kF32:
      return 4;
    case E::kU64:
    case E::kI64:
    case E::kF64:
      return 8;
  }
  return 0;
}

std::string_view to_string(Element element) {
  constexpr std::array<std::string_view, 9> kNames{"u8",  "u16", "u32", "u64", "i32",
                                                   "i64", "f16", "f32", "f64"};
  return kNames.at(static_cast<std::size_t>(element));
}

std::string ColumnLayout::path() const { return std::string(group) + "/" + name; }

std::span<const ColumnSpec, kNumColumns> column_specs() { return kColumns; }

}  // namespace traffic::data
