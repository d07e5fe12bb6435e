/// Draws what a driver sees as an image from above, in the frame of its vehicle.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/driving/driver.h"
#include "traffic/driving/map_index.h"

namespace traffic::driving {

/// Planes of an image. A cell belongs to a lane or a vehicle if its centre lies inside. Connectors
/// are lanes inside junctions.
enum Channel : std::uint8_t {
  kDrivable,    ///< 255: a lane
  kRoute,       ///< lanes of the route's present edge and of its next three edges: 255 if the
                ///< lane leads to the next edge of the route, else 128
  kRed,         ///< connectors without green: kRedOnRoute, kYellowOnRoute, kRedElsewhere
  kVehicles,    ///< 255: another vehicle
  kVehicles05,  ///< kVehicles half a second ago
  kVehicles10,  ///< kVehicles a second ago
  kVehicles15,  ///< kVehicles one and a half seconds ago
  kSpeed,       ///< speed of the vehicle there, 255 at kFullSpeed_mps
  kCentreLine,  ///< 255: within 0.3 m of a lane's centre line
  kAlong,       ///< 128 + 127 * cosine of the angle from the ego's heading to the lane's direction
  kAcross,      ///< 128 + 127 * sine of this angle
  kSpeedLimit,  ///< limit of the lane, 255 at kFullSpeed_mps
  kNumChannels
};
inline constexpr std::array<std::string_view, kNumChannels> kChannelNames{
    "drivable",    "route", "red",         "vehicles", "vehicles_05", "vehicles_10",
    "vehicles_15", "speed", "centre_line", "along",    "across",      "speed_limit"};

inline constexpr float kFullSpeed_mps = 40.0F;
inline constexpr std::size_t kRouteEdges = 4;  ///< edges of the route that an image shows
/// Values of kRed: for connectors on the route with a red light, for those with a yellow light, and
/// for connectors off the route with a red light.
inline constexpr std::uint8_t kRedOnRoute = 255;
inline constexpr std::uint8_t kYellowOnRoute = 192;
inline constexpr std::uint8_t kRedElsewhere = 64;

/// Size of an image. Column 0 is behind the vehicle and row 0 to its right.
struct RasterSpec {
  std::string_view name;
  std::int32_t channels = 0;  ///< number of channels; they are the first ones of Channel
  std::int32_t rows = 0;
  std::int32_t columns = 0;
  float cell_m = 1.0F;
  float behind_m = 16.0F;  ///< distance that the image shows behind the vehicle's centre

  [[nodiscard]] std::size_t num_bytes() const {
    return static_cast<std::size_t>(channels) * static_cast<std::size_t>(rows) *
           static_cast<std::size_t>(columns);
  }
};

/// 80 m ahead, 16 m behind and 32 m to each side.
inline constexpr RasterSpec kSmallRaster{
    .name = "small", .channels = 8, .rows = 64, .columns = 96, .cell_m = 1.0F};
/// The same area with all channels, in cells of half a metre.
inline constexpr RasterSpec kFullRaster{
    .name = "full", .channels = 12, .rows = 128, .columns = 192, .cell_m = 0.5F};

/// Draws images. An object reuses its memory, so each thread needs an object of its own.
class Rasteriser {
 public:
  explicit Rasteriser(const RasterSpec& spec) : spec_(spec) {}

  [[nodiscard]] const RasterSpec& spec() const { return spec_; }
  /// @param map index of the view's map
  /// @param mirrored exchanges left and right
  /// @param image [channels, rows, columns] overwritten
  void draw(const MapIndex& map, const View& view, bool mirrored, std::span<std::uint8_t> image);

 private:
  class Frame;

  void draw_lanes(const MapIndex& map, const Frame& frame, std::span<std::uint8_t> image);
  void draw_route(const MapIndex& map, const View& view, const Frame& frame,
                  std::span<std::uint8_t> image);
  void draw_lights(const MapIndex& map, const View& view, const Frame& frame,
                   std::span<std::uint8_t> image);
  void draw_vehicles(const View& view, const Frame& frame, std::span<std::uint8_t> image) const;
  [[nodiscard]] std::uint8_t* plane(std::span<std::uint8_t> image, Channel channel) const;

  RasterSpec spec_;
  std::vector<std::int32_t> near_;   ///< indices of the lane strips in sight (MapIndex), each once
  std::vector<std::uint32_t> seen_;  ///< [strips] number of the last image that shows the strip
  std::uint32_t image_number_ = 0;
  struct Light {
    std::uint8_t value = 0;  ///< value in the channel kRed
    std::int32_t strip = 0;  ///< index of the lane strip to draw
  };
  std::vector<Light> lights_;  ///< what draw_lights() draws: connectors in sight without green
};

}  // namespace traffic::driving
