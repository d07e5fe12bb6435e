/// Computes the input of the driving network for one vehicle: an image from above, and a vector of
/// numbers, the status.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "traffic/driving/raster.h"

namespace traffic::driving {

/// Distances in metres along the route. The status contains the points of the route's line there.
inline constexpr std::array<float, 12> kRouteAt_m{2.0F,  4.0F,  6.0F,  9.0F,  12.0F, 16.0F,
                                                  20.0F, 25.0F, 30.0F, 36.0F, 42.0F, 50.0F};
/// Number of vehicles in the status that cross the line of the route.
inline constexpr std::size_t kCrossing = 2;
/// Length of the status. It consists of, in this order:
/// - whether there is a history,
/// - the speed now and in the past frames, and the past positions and headings,
/// - the speed limit,
/// - the distance from the ego's front to the stop line of the next light, on a scale for all
///   distances and on a fine scale for the last metres,
/// - the deceleration with which the ego would stop at this line,
/// - 1 if the light is red, 0.5 if it is yellow, otherwise 0; then 1 if its green requires the ego
///   to give way, otherwise 0,
/// - the vehicle ahead on the line of the route: the gap on both scales, the deceleration that is
///   needed to stay behind it, and its speed,
/// - for each of the next kCrossing vehicles that will cross this line if they keep speed and
///   direction: the distance to the crossing on two scales, the time until the vehicle is there,
///   and its speed,
/// - the points of the line of the route at the distances kRouteAt_m.
inline constexpr std::size_t kStatusSize =
    1 + kHistory + 3 * (kHistory - 1) + 1 + 5 + 4 + 4 * kCrossing + 2 * kRouteAt_m.size();

/// Length of the first part of the status, which describes only the vehicle's own movement.
inline constexpr std::size_t kOwnStatusSize = 1 + kHistory + 3 * (kHistory - 1);

struct ObserveOptions {
  bool mirrored = false;  ///< whether left and right are exchanged
  bool history = true;    ///< if false, numbers and channels of the past are 0
};

/// Computes observations. An object reuses its memory, so each thread needs an object of its own.
class Observer {
 public:
  explicit Observer(const RasterSpec& spec) : raster_(spec) {}

  [[nodiscard]] const RasterSpec& spec() const { return raster_.spec(); }
  /// @param map index of the view's map
  /// @param image [RasterSpec::num_bytes()] overwritten
  /// @param status [kStatusSize] overwritten; usual values are about -1 to 1
  void observe(const MapIndex& map, const View& view, const ObserveOptions& options,
               std::span<std::uint8_t> image, std::span<float> status);

 private:
  Rasteriser raster_;
};

}  // namespace traffic::driving
