#include "driving/open_loop.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <span>

#include "traffic/driving/geometry.h"
#include "traffic/report/table.h"

namespace traffic::train::driving_policy {
namespace {

using driving::kPlanPoints;
using driving::Plan;

constexpr std::int64_t kModes = 6;
constexpr double kMiss_m = 2.0;
constexpr std::int64_t kBatch = 64;
enum Predictor : std::uint8_t { kPolicy, kVelocity, kTurn, kRecorded, kNumPredictors };
constexpr std::array<const char*, kNumPredictors> kNames{
    "policy", "constant velocity", "constant turn rate and acceleration", "recorded"};

enum Measure : std::uint8_t {
  kL2At1,
  kL2At2,
  kL2At3,
  kAde,
  kFde,
  kMiss,
  kOffRoad,
  kHit,
  kMeasures
};
using Sums = std::array<std::array<double, kMeasures>, kNumPredictors>;

/// Predicts six positions of a vehicle with constant turn rate and acceleration. The vehicle does
/// not reverse.
Plan turned_plan(double speed_mps, double acceleration_mps2, double turn_radps) {
  Plan plan;
  double x = 0.0, y = 0.0, heading = 0.0, speed = speed_mps;
  constexpr int kParts = 10;
  constexpr double kStep_s = driving::kFrame_s / kParts;
  for (driving::Point& point : plan.points) {
    for (int i = 0; i < kParts; ++i) {
      x += kStep_s * speed * std::cos(heading);
      y += kStep_s * speed * std::sin(heading);
      heading += kStep_s * turn_radps;
      speed = std::max(0.0, speed + kStep_s * acceleration_mps2);
    }
    point = {static_cast<float>(x), static_cast<float>(y)};
  }
  return plan;
}

double distance(const driving::Point& a, const driving::Point& b) {
  return std::hypot(a.x_m - b.x_m, a.y_m - b.y_m);
}

/// Whether there is a lane at a position in the frame of the vehicle. True for all positions
/// outside the image.
bool on_road(std::span<const std::uint8_t> image, const driving::RasterSpec& raster,
             const driving::Point& at) {
  const auto column =
      static_cast<std::int64_t>(std::floor((at.x_m + raster.behind_m) / raster.cell_m));
  const auto row = static_cast<std::int64_t>(std::floor(at.y_m / raster.cell_m)) + raster.rows / 2;
  if (column < 0 || column >= raster.columns || row < 0 || row >= raster.rows) return true;
  return image[static_cast<std::size_t>(row * raster.columns + column)] != 0;
}

/// Recorded vehicles at the times of a plan.
using Future = std::array<std::vector<driving::Box>, kPlanPoints>;

/// Whether a vehicle that follows the plan overlaps another, recorded vehicle. The vehicle heads in
/// the direction of its movement.
bool hits(const Plan& plan, const driving::Box& ego, const Future& future) {
  driving::Point before{0.0F, 0.0F};
  double heading = ego.pose.heading_rad;
  for (std::size_t i = 0; i < kPlanPoints; ++i) {
    const driving::Point& at = plan.points[i];
    if (distance(at, before) > 0.3) {
      heading = ego.pose.heading_rad + std::atan2(at.y_m - before.y_m, at.x_m - before.x_m);
    }
    before = at;
    const driving::Point there = driving::from_frame(ego.pose, at);
    driving::Box box = ego;
    box.pose = {there.x_m, there.y_m, heading};
    for (const driving::Box& other : future[i]) {
      if (std::abs(other.pose.x_m - box.pose.x_m) < 20.0 &&
          std::abs(other.pose.y_m - box.pose.y_m) < 20.0 && driving::overlap(box, other)) {
        return true;
      }
    }
  }
  return false;
}

/// A batch of examples without random changes, and the data from which the metrics are computed.
struct Chunk {
  DrivingBatch batch;
  struct Sample {
    driving::Box ego;
    Plan recorded;
    Plan turned;
    Future future;
  };
  std::vector<Sample> samples;
};

class Evaluation {
 public:
  Evaluation(Policy& policy, const SceneSet& scenes) : policy_(policy), scenes_(scenes) {}

  void add(std::span<const std::int64_t> samples);
  [[nodiscard]] std::span<double> sums() {
    return {&sums_[0][0], static_cast<std::size_t>(kNumPredictors) * kMeasures};
  }

 private:
  Chunk make_chunk(std::span<const std::int64_t> samples);
  void measure(const Chunk& chunk, std::int64_t i, Predictor predictor,
               std::span<const Plan> plans);

  Policy& policy_;
  const SceneSet& scenes_;
  Sums sums_{};
  std::int32_t block_ = -1;
  std::shared_ptr<const driving::SceneTracks> tracks_;
};

Chunk Evaluation::make_chunk(std::span<const std::int64_t> samples) {
  const driving::RasterSpec& raster = raster_of(policy_.settings());
  const auto count = static_cast<std::int64_t>(samples.size());
  Chunk chunk{.batch = observed_batch(raster, count), .samples = {}};
  chunk.samples.resize(samples.size());
  driving::Observer observer(raster);
  driving::Example example;
  const driving::ObserveOptions seen{.history = policy_.settings().history_dropout < 1.0};
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t sample = samples[static_cast<std::size_t>(i)];
    const std::int32_t block = scenes_.block_of(sample);
    if (block != block_) tracks_ = scenes_.read(block);
    block_ = block;
    const auto place = scenes_.place_of(sample, *tracks_);
    driving::make_example(*tracks_, place, {}, example);
    observe(observer, tracks_->map(), example.view, seen, i, chunk.batch);
    const auto& ego = example.view.ego;
    Chunk::Sample& out = chunk.samples[static_cast<std::size_t>(i)];
    out.ego = ego[0];
    out.recorded = example.target;
    out.turned =
        turned_plan(ego[0].speed_mps, (ego[0].speed_mps - ego[1].speed_mps) / driving::kFrame_s,
                    driving::wrapped_rad(ego[0].pose.heading_rad - ego[1].pose.heading_rad) /
                        driving::kFrame_s);
    for (std::size_t t = 0; t < kPlanPoints; ++t) {
      const auto frame = static_cast<std::size_t>(place.frame) + t + 1;
      for (const driving::SceneNode& node : tracks_->scene().frame(frame)) {
        const double away = std::hypot(node.x_m - out.ego.pose.x_m, node.y_m - out.ego.pose.y_m);
        if (node.vehicle != place.vehicle && away < 80.0) {
          out.future[t].push_back(tracks_->box_of(node));
        }
      }
    }
  }
  return chunk;
}

void Evaluation::measure(const Chunk& chunk, std::int64_t i, Predictor predictor,
                         std::span<const Plan> plans) {
  const Chunk::Sample& sample = chunk.samples[static_cast<std::size_t>(i)];
  const driving::RasterSpec& raster = raster_of(policy_.settings());
  const std::span<const std::uint8_t> image{chunk.batch.image.const_data_ptr<std::uint8_t>() +
                                                i * static_cast<std::int64_t>(raster.num_bytes()),
                                            raster.num_bytes()};
  auto& sums = sums_[predictor];
  const auto& wanted = sample.recorded.points;
  const auto& first = plans.front().points;
  sums[kL2At1] += distance(first[1], wanted[1]);
  sums[kL2At2] += distance(first[3], wanted[3]);
  sums[kL2At3] += distance(first[5], wanted[5]);
  double ade = INFINITY, fde = INFINITY;
  for (const Plan& plan : plans.first(std::min<std::size_t>(plans.size(), kModes))) {
    double sum = 0.0;
    for (std::size_t t = 0; t < kPlanPoints; ++t) sum += distance(plan.points[t], wanted[t]);
    ade = std::min(ade, sum / static_cast<double>(kPlanPoints));
    fde = std::min(fde, distance(plan.points[5], wanted[5]));
  }
  sums[kAde] += ade;
  sums[kFde] += fde;
  sums[kMiss] += fde > kMiss_m ? 1.0 : 0.0;
  for (const driving::Point& point : first) {
    sums[kOffRoad] += on_road(image, raster, point) ? 0.0 : 1.0 / static_cast<double>(kPlanPoints);
  }
  sums[kHit] += hits(plans.front(), sample.ego, sample.future) ? 1.0 : 0.0;
}

void Evaluation::add(std::span<const std::int64_t> samples) {
  const Chunk chunk = make_chunk(samples);
  const model::DrivingPlans planned = policy_.plans(chunk.batch.to(policy_.device()), kModes);
  const std::vector<Plan> plans = plans_in(planned.plans.cpu());
  const auto modes = static_cast<std::size_t>(planned.plans.size(1));
  for (std::size_t at = 0; at < samples.size(); ++at) {
    const auto i = static_cast<std::int64_t>(at);
    const Chunk::Sample& sample = chunk.samples[at];
    const Plan straight = turned_plan(sample.ego.speed_mps, 0.0, 0.0);
    measure(chunk, i, kPolicy, std::span(plans).subspan(at * modes, modes));
    measure(chunk, i, kVelocity, {&straight, 1});
    measure(chunk, i, kTurn, {&sample.turned, 1});
    measure(chunk, i, kRecorded, {&sample.recorded, 1});
  }
}

}  // namespace

OpenLoop compare_plans(Policy& policy, const SceneSet& scenes, std::int64_t max_samples,
                       comm::Communicator& communicator) {
  const std::int64_t count = std::min(max_samples, scenes.num_samples());
  const auto place = [&](std::int64_t i) {
    return static_cast<std::int64_t>(static_cast<__int128>(scenes.num_samples()) * i / count);
  };
  Evaluation evaluation(policy, scenes);
  std::vector<std::int64_t> chunk;
  const std::int64_t begin = count * communicator.rank() / communicator.size();
  const std::int64_t end = count * (communicator.rank() + 1) / communicator.size();
  for (std::int64_t i = begin; i < end; ++i) {
    chunk.push_back(place(i));
    if (static_cast<std::int64_t>(chunk.size()) < kBatch && i + 1 < end) continue;
    evaluation.add(chunk);
    chunk.clear();
  }
  const std::span<double> sums = evaluation.sums();
  communicator.all_reduce(
      torch::from_blob(sums.data(), {static_cast<std::int64_t>(sums.size())}, torch::kDouble));
  OpenLoop result{.samples = count, .rows = {}};
  for (std::size_t p = 0; p < kNumPredictors; ++p) {
    const auto mean = [&](Measure measure) {
      return sums[p * kMeasures + measure] / static_cast<double>(count);
    };
    result.rows.push_back({.name = kNames[p],
                           .l2_1s_m = mean(kL2At1),
                           .l2_2s_m = mean(kL2At2),
                           .l2_3s_m = mean(kL2At3),
                           .min_ade_m = mean(kAde),
                           .min_fde_m = mean(kFde),
                           .miss_percent = 100.0 * mean(kMiss),
                           .off_road_percent = 100.0 * mean(kOffRoad),
                           .collision_percent = 100.0 * mean(kHit)});
  }
  return result;
}

report::NamedValues metrics_of(const OpenLoop& result) {
  const OpenLoopRow& policy = result.rows.front();
  return {{"val/l2_1s_m", policy.l2_1s_m},
          {"val/l2_2s_m", policy.l2_2s_m},
          {"val/l2_3s_m", policy.l2_3s_m},
          {"val/min_ade6_m", policy.min_ade_m},
          {"val/min_fde6_m", policy.min_fde_m},
          {"val/miss_percent", policy.miss_percent},
          {"val/off_road_percent", policy.off_road_percent},
          {"val/collision_percent", policy.collision_percent}};
}

void print_open_loop(const OpenLoop& result) {
  report::Table table({"plan", "L2 1 s (m)", "2 s", "3 s", "minADE6", "minFDE6", "miss %",
                       "off road %", "collision %"});
  const auto number = [](double value) { return std::round(1000.0 * value) / 1000.0; };
  for (const OpenLoopRow& row : result.rows) {
    table.add_row({row.name, number(row.l2_1s_m), number(row.l2_2s_m), number(row.l2_3s_m),
                   number(row.min_ade_m), number(row.min_fde_m), number(row.miss_percent),
                   number(row.off_road_percent), number(row.collision_percent)});
  }
  fmt::print("{}", table.to_text());
}

}  // namespace traffic::train::driving_policy
