/// Finds the lanes near a position, the lanes of an edge and the links of a lane.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "traffic/driving/road_map.h"

namespace traffic::driving {

/// Consecutive segments of one lane. A strip is short, so if a part of it is near, most of it is.
struct LaneStrip {
  std::int32_t lane = 0;
  std::int64_t first_point = 0;  ///< index into RoadMap::points and MapIndex::left()
  std::int32_t num_points = 0;   ///< at least 2
  Point centre;                  ///< centre of a circle around the strip
  float radius_m = 0.0F;         ///< radius of this circle
};

/// Immutable after construction and thread-safe.
class MapIndex {
 public:
  explicit MapIndex(std::shared_ptr<const RoadMap> map);

  [[nodiscard]] const RoadMap& map() const { return *map_; }
  [[nodiscard]] std::span<const LaneStrip> strips() const { return strips_; }
  /// For each point of RoadMap::points the point beside it on the left (or right) border of its
  /// lane. At a bend it is the point at which the borders of both segments meet.
  [[nodiscard]] std::span<const Point> left() const { return left_; }
  [[nodiscard]] std::span<const Point> right() const { return right_; }

  [[nodiscard]] std::span<const std::int32_t> lanes_of_edge(std::int32_t edge) const {
    return part(edge_lanes_, edge_begin_, edge);
  }
  /// Strips of a lane, from its begin to its end.
  [[nodiscard]] std::span<const LaneStrip> strips_of_lane(std::int32_t lane) const;
  /// Indices into RoadMap::links of the links that begin at a lane.
  [[nodiscard]] std::span<const std::int32_t> links_from(std::int32_t lane) const {
    return part(links_, links_begin_, lane);
  }

  /// Index of the link that leads over a connector (a lane inside a junction); -1 if no link does.
  [[nodiscard]] std::int32_t link_over(std::int32_t connector) const {
    return link_over_[static_cast<std::size_t>(connector)];
  }

  /// Appends the indices of the strips that may be within a distance of a position. An index may be
  /// appended more than once.
  void find_near(double x_m, double y_m, double distance_m,
                 std::vector<std::int32_t>& strips) const;

 private:
  static std::span<const std::int32_t> part(const std::vector<std::int32_t>& values,
                                            const std::vector<std::int64_t>& begin,
                                            std::int32_t index);
  void make_borders();
  void make_strips();
  void make_buckets();

  std::shared_ptr<const RoadMap> map_;
  std::vector<Point> left_;   ///< [points]
  std::vector<Point> right_;  ///< [points]
  std::vector<LaneStrip> strips_;
  std::vector<std::int64_t> lane_strips_;  ///< [lanes + 1]
  std::vector<std::int64_t> edge_begin_;   ///< [edges + 1]
  std::vector<std::int32_t> edge_lanes_;
  std::vector<std::int64_t> links_begin_;  ///< [lanes + 1]
  std::vector<std::int32_t> links_;
  std::vector<std::int32_t> link_over_;  ///< [lanes]
  // A grid of square buckets, row by row, that lists the strips whose circles touch each bucket.
  Point origin_;
  std::int64_t columns_ = 0;
  std::int64_t rows_ = 0;
  std::vector<std::int64_t> bucket_begin_;  ///< [columns * rows + 1]
  std::vector<std::int32_t> bucket_strips_;
};

}  // namespace traffic::driving
