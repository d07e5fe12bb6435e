/// Defines the columns of a file of recorded scenes (traffic/data/scene_file.h), and writes and
/// reads its attributes. SceneWriter and SceneReader use it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "hdf5_handle.h"
#include "traffic/data/scene_file.h"

namespace traffic::data {

/// The columns. A column whose name ends in Ptr tells which rows of another group belong to an
/// object: rows ptr[i] to ptr[i + 1] - 1 belong to object i. It has one row more than there are
/// objects. For example, kMapLanePtr tells which lanes belong to a map.
enum class SceneField : std::uint8_t {
  kStringBytes,
  kStringPtr,
  kMapName,
  kMapLanePtr,
  kMapEdgePtr,
  kMapLinkPtr,
  kMapSignalPtr,
  kLaneName,
  kLanePointPtr,
  kLaneEdge,
  kLaneKind,
  kLaneWidth,
  kLaneSpeedLimit,
  kPointXy,
  kEdgeName,
  kLinkFromLane,
  kLinkToLane,
  kLinkConnector,
  kLinkSignal,
  kSignalLight,
  kSignalIndex,
  kEpisodeSeed,
  kEpisodeSplit,
  kEpisodeDemandScale,
  kEpisodeMap,
  kEpisodeFramePtr,
  kEpisodeVehiclePtr,
  kEpisodeRoutePtr,
  kVehicleType,
  kVehicleLength,
  kVehicleWidth,
  kRoutePtr,
  kRouteEdge,
  kFrameTime,
  kFrameNodePtr,
  kFrameSignals,
  kNodeVehicle,
  kNodeXy,
  kNodeHeading,
  kNodeSpeed,
  kNodeLane,
  kNodeRoute,
};
inline constexpr std::size_t kNumSceneFields = 42;

/// All columns, in the order of SceneField.
[[nodiscard]] std::span<const ColumnLayout, kNumSceneFields> scene_columns();

void write_scene_attributes(hid_t file, const SceneFileInfo& info);
/// @throws DataError if the file has another format or a later version, or if an attribute is
///   missing or has another type
[[nodiscard]] SceneFileInfo read_scene_attributes(hid_t file, const std::string& path);

}  // namespace traffic::data
