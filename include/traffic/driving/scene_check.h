/// Checks that maps and recorded scenes, which may come from files of any origin, are consistent.
#pragma once

#include "traffic/driving/recorded_scene.h"

namespace traffic::driving {

/// @throws DataError that names the first lane, link or signal with a dangling index, a number that
/// is not finite or one out of bounds
void check_map(const RoadMap& map);

/// Checks the scene, but not its map.
/// @throws DataError that names the first frame, vehicle or route with a dangling index, a number
/// that is not finite or one out of bounds; or times that are not kFrame_s apart
void check_scene(const RecordedScene& scene);

}  // namespace traffic::driving
