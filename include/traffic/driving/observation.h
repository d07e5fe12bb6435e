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
/// Length of the status. It consists of, in this order:
/// - whether there is a history,
/// - the speed now and in the past frames, and the past positions and headings,
/// - the speed limit,
/// - the distance to the stop line and the state of its light,
/// - the gap to the vehicle ahead on the route's line, and the speed of this vehicle,
/// - the points of the route's line at the distances kRouteAt_m.
inline constexpr std::size_t kStatusSize =
    1 + kHistory + 3 * (kHistory - 1) + 1 + 2 + 2 + 2 * kRouteAt_m.size();

/// Length of the first part of the status, which describes only the vehicle's own movement.
inline constexpr std::size_t kOwnStatusSize = 1 + kHistory + 3 * (kHistory - 1);

struct ObserveOptions {
  bool mirrored = false;  ///< left and right are exchanged
  bool history = true;    ///< false: numbers and channels of the past are 0
};

/// Keeps memory between observations, so each thread needs an object of its own.
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
