// MapIndex: borders of lanes, and tables that find lanes by position, edge and link (map_index.h).
#include "traffic/driving/map_index.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::driving {
namespace {

constexpr double kBucket_m = 50.0;
constexpr std::int64_t kMaxSegments = 16;
constexpr float kMaxStrip_m = 50.0F;

Point unit_normal(Point from, Point to) {
  const float dx = to.x_m - from.x_m;
  const float dy = to.y_m - from.y_m;
  const float length = std::hypot(dx, dy);
  return length > 0.0F ? Point{-dy / length, dx / length} : Point{0.0F, 0.0F};
}

/// Vector from the centre line to the left border at a point of the line, for a lane whose half
/// width is 1.
Point border_vector(std::span<const Point> line, std::size_t i) {
  const Point before = i > 0 ? unit_normal(line[i - 1], line[i]) : Point{};
  const Point after = i + 1 < line.size() ? unit_normal(line[i], line[i + 1]) : Point{};
  Point sum{before.x_m + after.x_m, before.y_m + after.y_m};
  const float length = std::hypot(sum.x_m, sum.y_m);
  if (length < 1e-6F) return i > 0 ? before : after;
  sum = {sum.x_m / length, sum.y_m / length};
  // At a bend the border lies further away, by the factor 1 / cos(half of the angle), at most 2.
  const Point& normal = i > 0 && std::hypot(before.x_m, before.y_m) > 0.0F ? before : after;
  const float cosine = sum.x_m * normal.x_m + sum.y_m * normal.y_m;
  const float stretch = 1.0F / std::max(0.5F, cosine);
  return {sum.x_m * stretch, sum.y_m * stretch};
}

/// Sorts the indices 0 .. items - 1 by the keys of the items. The indices of the items with key k
/// are then sorted[begin[k] .. begin[k + 1]).
template <typename Key>
void sort_by_key(std::size_t keys, std::size_t items, const Key& key_of,
                 std::vector<std::int64_t>& begin, std::vector<std::int32_t>& sorted) {
  begin.assign(keys + 1, 0);
  for (std::size_t i = 0; i < items; ++i) ++begin[static_cast<std::size_t>(key_of(i)) + 1];
  for (std::size_t k = 0; k < keys; ++k) begin[k + 1] += begin[k];
  sorted.resize(items);
  std::vector<std::int64_t> next(begin.begin(), begin.end() - 1);
  for (std::size_t i = 0; i < items; ++i) {
    sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(key_of(i))]++)] =
        static_cast<std::int32_t>(i);
  }
}

}  // namespace

MapIndex::MapIndex(std::shared_ptr<const RoadMap> map) : map_(std::move(map)) {
  const RoadMap& roads = *map_;
  make_borders();
  make_strips();
  make_buckets();
  sort_by_key(
      roads.edges.size(), roads.num_lanes(), [&](std::size_t lane) { return roads.edge[lane]; },
      edge_begin_, edge_lanes_);
  sort_by_key(
      roads.num_lanes(), roads.links.size(),
      [&](std::size_t link) { return roads.links[link].from_lane; }, links_begin_, links_);
  link_over_.assign(roads.num_lanes(), -1);
  for (std::size_t link = 0; link < roads.links.size(); ++link) {
    const std::int32_t connector = roads.links[link].connector;
    if (connector < 0) continue;
    link_over_[static_cast<std::size_t>(connector)] = static_cast<std::int32_t>(link);
  }
}

std::span<const std::int32_t> MapIndex::part(const std::vector<std::int32_t>& values,
                                             const std::vector<std::int64_t>& begin,
                                             std::int32_t index) {
  const auto i = static_cast<std::size_t>(index);
  TRAFFIC_CHECK(index >= 0 && i + 1 < begin.size(),
                "the map has no entry with index {}, expected 0 to {}", index,
                static_cast<std::ptrdiff_t>(begin.size()) - 2);
  return std::span(values).subspan(static_cast<std::size_t>(begin[i]),
                                   static_cast<std::size_t>(begin[i + 1] - begin[i]));
}

void MapIndex::make_borders() {
  left_.resize(map_->points.size());
  right_.resize(map_->points.size());
  for (std::size_t lane = 0; lane < map_->num_lanes(); ++lane) {
    const std::span<const Point> line = map_->line(lane);
    const auto first = static_cast<std::size_t>(map_->lane_begin[lane]);
    const float half_m = map_->width_m[lane] / 2.0F;
    for (std::size_t i = 0; i < line.size(); ++i) {
      const Point aside = border_vector(line, i);
      left_[first + i] = {line[i].x_m + half_m * aside.x_m, line[i].y_m + half_m * aside.y_m};
      right_[first + i] = {line[i].x_m - half_m * aside.x_m, line[i].y_m - half_m * aside.y_m};
    }
  }
}

void MapIndex::make_strips() {
  lane_strips_.push_back(0);
  for (std::size_t lane = 0; lane < map_->num_lanes(); ++lane) {
    const std::int64_t end = map_->lane_begin[lane + 1];
    for (std::int64_t first = map_->lane_begin[lane]; first + 1 < end;) {
      float length_m = 0.0F;
      std::int64_t last = first;
      while (last + 1 < end && last - first < kMaxSegments && length_m < kMaxStrip_m) {
        const Point& a = map_->points[static_cast<std::size_t>(last)];
        const Point& b = map_->points[static_cast<std::size_t>(++last)];
        length_m += std::hypot(b.x_m - a.x_m, b.y_m - a.y_m);
      }
      LaneStrip strip{.lane = static_cast<std::int32_t>(lane),
                      .first_point = first,
                      .num_points = static_cast<std::int32_t>(last - first + 1),
                      .centre = {}};
      Point low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
      for (auto i = static_cast<std::size_t>(first); i <= static_cast<std::size_t>(last); ++i) {
        for (const Point& border : {left_[i], right_[i]}) {
          low = {std::min(low.x_m, border.x_m), std::min(low.y_m, border.y_m)};
          high = {std::max(high.x_m, border.x_m), std::max(high.y_m, border.y_m)};
        }
      }
      strip.centre = {(low.x_m + high.x_m) / 2.0F, (low.y_m + high.y_m) / 2.0F};
      strip.radius_m = std::hypot(high.x_m - low.x_m, high.y_m - low.y_m) / 2.0F;
      strips_.push_back(strip);
      first = last;
    }
    lane_strips_.push_back(static_cast<std::int64_t>(strips_.size()));
  }
}

void MapIndex::make_buckets() {
  if (strips_.empty()) {
    bucket_begin_.assign(1, 0);
    return;
  }
  Point low{INFINITY, INFINITY}, high{-INFINITY, -INFINITY};
  for (const LaneStrip& strip : strips_) {
    low = {std::min(low.x_m, strip.centre.x_m - strip.radius_m),
           std::min(low.y_m, strip.centre.y_m - strip.radius_m)};
    high = {std::max(high.x_m, strip.centre.x_m + strip.radius_m),
            std::max(high.y_m, strip.centre.y_m + strip.radius_m)};
  }
  origin_ = low;
  columns_ = static_cast<std::int64_t>((high.x_m - low.x_m) / kBucket_m) + 1;
  rows_ = static_cast<std::int64_t>((high.y_m - low.y_m) / kBucket_m) + 1;
  std::vector<std::pair<std::int64_t, std::int32_t>> entries;
  for (std::size_t s = 0; s < strips_.size(); ++s) {
    const LaneStrip& strip = strips_[s];
    const auto bucket = [&](float value, float from) {
      return static_cast<std::int64_t>((value - from) / kBucket_m);
    };
    const std::int64_t x0 = bucket(strip.centre.x_m - strip.radius_m, origin_.x_m);
    const std::int64_t x1 = bucket(strip.centre.x_m + strip.radius_m, origin_.x_m);
    const std::int64_t y0 = bucket(strip.centre.y_m - strip.radius_m, origin_.y_m);
    const std::int64_t y1 = bucket(strip.centre.y_m + strip.radius_m, origin_.y_m);
    for (std::int64_t y = y0; y <= std::min(y1, rows_ - 1); ++y) {
      for (std::int64_t x = x0; x <= std::min(x1, columns_ - 1); ++x) {
        entries.emplace_back(y * columns_ + x, static_cast<std::int32_t>(s));
      }
    }
  }
  std::vector<std::int32_t> order;
  sort_by_key(
      static_cast<std::size_t>(columns_ * rows_), entries.size(),
      [&](std::size_t i) { return entries[i].first; }, bucket_begin_, order);
  for (const std::int32_t i : order) {
    bucket_strips_.push_back(entries[static_cast<std::size_t>(i)].second);
  }
}

std::span<const LaneStrip> MapIndex::strips_of_lane(std::int32_t lane) const {
  const auto i = static_cast<std::size_t>(lane);
  return std::span(strips_).subspan(
      static_cast<std::size_t>(lane_strips_[i]),
      static_cast<std::size_t>(lane_strips_[i + 1] - lane_strips_[i]));
}

void MapIndex::find_near(double x_m, double y_m, double distance_m,
                         std::vector<std::int32_t>& strips) const {
  const auto range = [&](double centre, double from, std::int64_t count) {
    const auto first =
        static_cast<std::int64_t>(std::floor((centre - distance_m - from) / kBucket_m));
    const auto last =
        static_cast<std::int64_t>(std::floor((centre + distance_m - from) / kBucket_m));
    return std::pair(std::max<std::int64_t>(0, first), std::min(count - 1, last));
  };
  const auto [x0, x1] = range(x_m, origin_.x_m, columns_);
  const auto [y0, y1] = range(y_m, origin_.y_m, rows_);
  for (std::int64_t y = y0; y <= y1; ++y) {
    for (std::int64_t x = x0; x <= x1; ++x) {
      const auto bucket = static_cast<std::size_t>(y * columns_ + x);
      for (auto i = static_cast<std::size_t>(bucket_begin_[bucket]);
           i < static_cast<std::size_t>(bucket_begin_[bucket + 1]); ++i) {
        const LaneStrip& strip = strips_[static_cast<std::size_t>(bucket_strips_[i])];
        const double reach_m = distance_m + strip.radius_m;
        const double dx = strip.centre.x_m - x_m;
        const double dy = strip.centre.y_m - y_m;
        if (dx * dx + dy * dy <= reach_m * reach_m) strips.push_back(bucket_strips_[i]);
      }
    }
  }
}

}  // namespace traffic::driving
