/// Defines the format of data set files, version 1: traffic graphs of whole episodes in one HDF5
/// file. data_prep writes these files, and phase 1 trains on them. docs/reference/data-format.md
/// describes the format for readers in other languages.
///
/// Root attributes describe the file (FileInfo). A column is an HDF5 data set. This program writes
/// columns in chunks of rows, little-endian. The filters shuffle and deflate are optional;
/// fletcher32, a checksum, is always applied. In the following list there are P episodes, T frames,
/// N nodes and E edges of all frames together, F node features and G global features:
///
///   episodes/seed         u64 [P]      frames/time_s           f64 [T]
///   episodes/first_frame  i64 [P]      frames/node_ptr         i64 [T + 1]
///   episodes/num_frames   i64 [P]      frames/edge_ptr         i64 [T + 1]
///   episodes/split        u8  [P]      frames/global_features  f32 [T, G]
///   episodes/demand_scale f64 [P]
///   episodes/controller   u8  [P]      edges/src               i32 [E]
///                                      edges/features          f32 | f16 [E, 4]
///   nodes/features        f32 | f16 [N, F]   physical units
///   nodes/position_m      f32 [N]      distance covered, in f32 even if features are f16
///   nodes/xy_m            f32 [N, 2]   nodes/vehicle_id  u32 [N]   nodes/in_degree  u16 [N]
///
/// A node is a vehicle in a frame. Frame t has the nodes node_ptr[t] to node_ptr[t + 1] - 1 and the
/// edges edge_ptr[t] to edge_ptr[t + 1] - 1. The edges of a frame are sorted by destination. The
/// first edges of a frame lead to its first node; in_degree of this node is their number. The next
/// edges lead to the second node, and so on. edges/src counts nodes within the frame. Episodes
/// follow each other without gaps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/frame.h"

namespace traffic::data {

inline constexpr std::string_view kFormatName = "traffic-graphs";
inline constexpr std::int64_t kFormatVersion = 1;
inline constexpr int kNumEdgeFeatures = 4;
inline constexpr int kNumGlobalFeatures = 16;

// Names of the node features from which the targets and labels of training are computed.
inline constexpr std::string_view kPositionFeature = "position_m";
inline constexpr std::string_view kSpeedFeature = "speed_mps";
inline constexpr std::string_view kAccelerationFeature = "acceleration_mps2";
inline constexpr std::string_view kLaneFeature = "lane_index";
inline constexpr std::string_view kLeaderGapFeature = "leader_gap_m";
inline constexpr std::string_view kLeaderRelativeSpeedFeature =
    "leader_speed_mps";  ///< speed of the leader minus the vehicle's own speed

enum class Split : std::uint8_t { kTrain = 0, kValidation = 1, kTest = 2 };
inline constexpr int kNumSplits = 3;
/// "train", "validation" or "test"
[[nodiscard]] std::string_view to_string(Split split);

/// Description of one feature in the file.
struct Feature {
  std::string name;
  std::string unit;
  float offset = 0;  ///< the normalised value is (value - offset) / scale
  float scale = 1;
  bool present = true;  ///< false if the recording did not contain the feature; its column is zero
  bool operator==(const Feature&) const = default;
};
using FeatureTable = std::vector<Feature>;

/// Converts the feature table of the scene module, whose features are all present.
[[nodiscard]] FeatureTable feature_table(std::span<const scene::FeatureSpec> specs);
/// Index of the feature with this name.
/// @throws DataError that lists the existing features if there is no such feature
[[nodiscard]] int feature_index(const FeatureTable& table, std::string_view name);

/// Marks the feature with this name as not present. Does nothing if there is no such feature.
void mark_missing(FeatureTable& table, std::string_view name);

/// The content of the root attributes.
struct FileInfo {
  std::string scenario;
  double step_length_s = 1.0;     ///< step of the simulation
  double frame_interval_s = 1.0;  ///< time between two frames of an episode
  bool float16 = false;           ///< whether nodes/features and edges/features are float16
  std::string program_version;    ///< version of the program that wrote the file
  std::string sumo_version;
  std::string command_line;
  std::string created_utc;
  std::string splitting;                      ///< the rule by which episodes got their split
  std::vector<std::string> controller_names;  ///< episodes/controller contains indices into it
  FeatureTable node_features;
  FeatureTable edge_features;
  FeatureTable global_features;
  std::uint64_t content_hash = 0;  ///< XXH3 over all columns; set by DatasetWriter::finish
};

/// FileInfo with the feature tables of this program.
[[nodiscard]] FileInfo file_info_of_this_program();

/// Names of the node, edge and global features that are not present.
[[nodiscard]] std::vector<std::string> missing_features(const FileInfo& info);

/// One row of the columns episodes/*.
struct Episode {
  std::uint64_t seed = 0;
  std::int64_t first_frame = 0;
  std::int64_t num_frames = 0;
  Split split = Split::kTrain;
  double demand_scale = 1.0;
  std::uint8_t controller = 0;  ///< index into FileInfo::controller_names
};

enum class Element : std::uint8_t { kU8, kU16, kU32, kU64, kI32, kI64, kF16, kF32, kF64 };
[[nodiscard]] std::size_t size_of(Element element);
/// "u8", "u16", ..., "f64"
[[nodiscard]] std::string_view to_string(Element element);

/// The objects that the rows of a column describe. kFramePtr has one row per frame and one more row
/// at the end.
enum class Rows : std::uint8_t { kEpisodes, kFrames, kFramePtr, kNodes, kEdges };

enum class Column : std::uint8_t {
  kEpisodeSeed,
  kEpisodeFirstFrame,
  kEpisodeNumFrames,
  kEpisodeSplit,
  kEpisodeDemandScale,
  kEpisodeController,
  kFrameTime,
  kFrameNodePtr,
  kFrameEdgePtr,
  kFrameGlobalFeatures,
  kNodeFeatures,
  kNodePosition,
  kNodeXy,
  kNodeVehicleId,
  kNodeInDegree,
  kEdgeSrc,
  kEdgeFeatures,
};
inline constexpr std::size_t kNumColumns = 17;

/// How a column is stored in a data set of graphs or in a file of scenes (scene_file.h).
struct ColumnLayout {
  const char* group;
  const char* name;
  Element element;  ///< if may_be_f16 is true, kF32 means that the file has f32 or f16
  bool may_be_f16;
  int rank;        ///< 1 for shape [rows], 2 for shape [rows, width]
  int width;       ///< elements in a row; 0 means the number of node features
  int chunk_rows;  ///< rows in a chunk of new files; readers accept any number
  /// Group and name, e.g. "nodes/features".
  [[nodiscard]] std::string path() const;
};

struct ColumnSpec : ColumnLayout {
  Column column;
  Rows rows;
};
/// All columns, in the order of Column.
[[nodiscard]] std::span<const ColumnSpec, kNumColumns> column_specs();

}  // namespace traffic::data
