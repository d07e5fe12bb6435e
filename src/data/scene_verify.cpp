// find_problems() of verify.h for files of recorded scenes: checks the hash, the structure and the
// movements of vehicles.
#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "problems.h"
#include "traffic/core/hash.h"
#include "traffic/data/plausible.h"
#include "traffic/data/verify.h"
#include "traffic/driving/geometry.h"

namespace traffic::data {
namespace {

using driving::RecordedScene;
using driving::SceneNode;

/// Headings are checked only if a vehicle covers at least this distance between two frames. A
/// shorter motion has no clear direction.
constexpr double kClearMotion_m = 2.0;
/// Maximum angle between heading and direction of motion. Real vehicles stay below it, even if they
/// slide or turn sharply.
constexpr double kMaxSlip_rad = 1.0;
/// Maximum distance of a vehicle's centre from the edge of its lane, after half of the vehicle's
/// length is subtracted. Vehicles that change lanes stay far below it.
constexpr double kMaxBesideLane_m = 4.0;
/// Headings are reported only if more than this share of them contradicts the movements, and lanes
/// only if more than this share contradicts the positions. Single vehicles may reverse or collide,
/// and a lane may be drawn in a wrong place.
constexpr double kMaxOddShare = 0.05;
/// Metres by which a vehicle may move farther between two frames than its speed allows. The centre
/// of a turning vehicle swings, and simulators end collisions with a jump.
constexpr double kSwing_m = 2.0;

double distance_to_segment(const driving::Point& a, const driving::Point& b,
                           const SceneNode& node) {
  const double dx = b.x_m - a.x_m;
  const double dy = b.y_m - a.y_m;
  const double length2 = dx * dx + dy * dy;
  const double along =
      length2 > 0
          ? std::clamp(((node.x_m - a.x_m) * dx + (node.y_m - a.y_m) * dy) / length2, 0.0, 1.0)
          : 0.0;
  return std::hypot(node.x_m - a.x_m - along * dx, node.y_m - a.y_m - along * dy);
}

double distance_to_lane(const driving::RoadMap& map, const SceneNode& node) {
  const auto line = map.line(static_cast<std::size_t>(node.lane));
  double nearest = distance_to_segment(line[0], line[1], node);
  for (std::size_t i = 2; i < line.size(); ++i) {
    nearest = std::min(nearest, distance_to_segment(line[i - 1], line[i], node));
  }
  return nearest;
}

/// Checks speeds, movements, headings and lanes of all vehicles of a file. It reports one message
/// for each kind of problem, with the first occurrence and the number of occurrences.
class SceneMovementCheck {
 public:
  explicit SceneMovementCheck(const SceneReader& file) : file_(file) {}

  void check(std::size_t episode, const RecordedScene& scene) {
    episode_ = episode;
    scene_ = &scene;
    std::vector<const SceneNode*> before(scene.vehicles.size(), nullptr);
    std::vector<const SceneNode*> now(scene.vehicles.size(), nullptr);
    for (frame_ = 0; frame_ < scene.num_frames(); ++frame_) {
      for (const SceneNode& node : scene.frame(frame_)) {
        const auto vehicle = static_cast<std::size_t>(node.vehicle);
        check_node(node);
        if (before[vehicle] != nullptr) check_move(*before[vehicle], node);
        now[vehicle] = &node;
      }
      std::swap(before, now);
      std::fill(now.begin(), now.end(), nullptr);
    }
  }

  void report(Problems& problems) const {
    for (const Kind* kind : {&speeds_, &changes_, &jumps_}) report(*kind, problems);
    if (headings_.share() > kMaxOddShare) report(headings_, problems);
    if (places_.share() > kMaxOddShare) report(places_, problems);
  }

 private:
  /// One kind of problem.
  struct Kind {
    std::int64_t count = 0;    ///< number of occurrences
    std::int64_t checked = 0;  ///< number of checks
    std::string first{};       ///< description of the first occurrence
    [[nodiscard]] double share() const {
      return checked > 0 ? static_cast<double>(count) / static_cast<double>(checked) : 0.0;
    }
  };

  void report(const Kind& kind, Problems& problems) const {
    if (kind.count == 0) return;
    problems.add(fmt::format(
        "{}: {}{}", file_.path(), kind.first,
        kind.count > 1
            ? fmt::format("; this happens {} times in all (each vehicle counts in each frame)",
                          kind.count)
            : std::string()));
  }

  template <typename Describe>
  void note(Kind& kind, bool is_odd, const SceneNode& node, const Describe& describe) const {
    ++kind.checked;
    if (!is_odd || ++kind.count > 1) return;
    kind.first = fmt::format("episode {}, frame {} at {:.6g} s: vehicle {} {}", episode_, frame_,
                             scene_->time_s[frame_], node.vehicle, describe());
  }

  void check_node(const SceneNode& node) {
    note(speeds_, node.speed_mps < -kStandingMps || node.speed_mps > kMaxSpeedMps, node, [&] {
      return fmt::format("has a speed of {:.6g} m/s, expected 0 to {}", node.speed_mps,
                         kMaxSpeedMps);
    });
    if (node.lane < 0) return;
    const double beside_m = distance_to_lane(*scene_->map, node) -
                            0.5 * scene_->map->width_m[static_cast<std::size_t>(node.lane)] -
                            0.5 * scene_->vehicles[static_cast<std::size_t>(node.vehicle)].length_m;
    note(places_, beside_m > kMaxBesideLane_m, node, [&] {
      return fmt::format(
          "is on lane '{}', but at least {:.4g} m away from it; check that map and positions have "
          "the "
          "same origin",
          scene_->map->lanes[static_cast<std::size_t>(node.lane)], beside_m);
    });
  }

  void check_move(const SceneNode& before, const SceneNode& node) {
    constexpr double kSeconds = driving::kFrame_s;
    note(changes_,
         !is_possible_acceleration((node.speed_mps - before.speed_mps) / kSeconds, node.speed_mps),
         node, [&] {
           return fmt::format("goes from {:.6g} to {:.6g} m/s within {} s", before.speed_mps,
                              node.speed_mps, kSeconds);
         });
    const double dx = node.x_m - before.x_m;
    const double dy = node.y_m - before.y_m;
    const double moved_m = std::hypot(dx, dy);
    note(jumps_, moved_m > reach_m(std::max(node.speed_mps, before.speed_mps), kSeconds) + kSwing_m,
         node, [&] {
           return fmt::format("covers {:.6g} m in {} s with speeds of {:.6g} and {:.6g} m/s",
                              moved_m, kSeconds, before.speed_mps, node.speed_mps);
         });
    if (moved_m < kClearMotion_m) return;
    const double turn = driving::wrapped_rad(node.heading_rad - before.heading_rad);
    const double slip = driving::wrapped_rad(std::atan2(dy, dx) - before.heading_rad - 0.5 * turn);
    note(headings_, std::abs(slip) > kMaxSlip_rad, node, [&] {
      return fmt::format(
          "moves {:.0f} degrees away from its heading; headings are radians from east, "
          "counterclockwise",
          std::abs(slip) * 180.0 / std::numbers::pi);
    });
  }

  const SceneReader& file_;
  const RecordedScene* scene_ = nullptr;
  std::size_t episode_ = 0;
  std::size_t frame_ = 0;
  Kind speeds_;
  Kind changes_;  ///< changes of the speed between two frames
  Kind jumps_;
  Kind headings_;
  Kind places_;
};

}  // namespace

std::vector<std::string> find_problems(const SceneReader& file,
                                       const std::function<void(std::int64_t)>& progress) {
  Problems problems;
  try {
    const std::uint64_t hash = file.compute_content_hash();
    if (hash != file.info().content_hash) {
      problems.add(
          fmt::format("{}: the content has the hash {}, but the attribute content_xxh3 is {}",
                      file.path(), hex64(hash), hex64(file.info().content_hash)));
    }
  } catch (const DataError& error) {
    problems.add(error.what());
  }
  if (problems.any()) return problems.take();  // checking damaged values would be meaningless
  SceneMovementCheck movements(file);
  for (std::size_t i = 0; i < file.episodes().size(); ++i) {
    try {
      movements.check(i, file.read(i));
    } catch (const DataError& error) {
      problems.add(error.what());
    }
    progress(file.episodes()[i].num_frames);
  }
  movements.report(problems);
  return problems.take();
}

}  // namespace traffic::data
