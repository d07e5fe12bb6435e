#include "traffic/rollout/traffic/traffic_pool.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "checked_answer.h"
#include "joint_codec.h"
#include "period_codec.h"
#include "signal_codec.h"
#include "traffic/config/write.h"
#include "traffic/core/error.h"

namespace traffic::rollout {

Programs sumo_programs() {
  return {.rollout_worker = program_beside_this_one("rollout_worker"),
          .environment = program_beside_this_one("sumo_env")};
}

std::unique_ptr<EnvPool> start_sumo_pool(const comm::MpiSession& session,
                                         const config::Config& config, const Programs& programs) {
  const auto frames = static_cast<std::int64_t>(std::ceil(config.env.control_period_s)) + 1;
  const std::int64_t vehicles = config.rollout.max_vehicles;
  return std::make_unique<WorkerPool>(
      session,
      WorkerPoolSpec{
          .rollout = config.rollout,
          .programs = programs,
          .settings = config::to_toml(config),
          .max_order_bytes = kJointHeadBytes + order_bytes(vehicles) + kSignalOrderBytes,
          .max_answer_bytes = kJointHeadBytes + period_bytes(frames, vehicles) + kSignalAnswerBytes,
          .worker_silence_s =
              std::min(WorkerPoolSpec{}.worker_silence_s, config.comm.timeout_s / 2)});
}

TrafficPool::TrafficPool(std::unique_ptr<EnvPool> pool, Actors actors)
    : pool_(std::move(pool)),
      joint_(actors == Actors::kVehiclesAndLights),
      periods_(static_cast<std::size_t>(pool_->num_envs())),
      signal_periods_(periods_.size()) {}

void TrafficPool::start_episode(int env, const EpisodeSpec& spec) {
  pool_->reset(env, write_episode(spec));
}

void TrafficPool::act(int env, std::span<const scene::Command> commands,
                      std::span<const scene::SignalCommand> greens) {
  for (const scene::Command& command : commands) {
    TRAFFIC_CHECK(std::isfinite(command.value) && std::isfinite(command.hold_s),
                  "a command for vehicle {} is not finite", command.vehicle_id);
  }
  if (!joint_) {
    TRAFFIC_CHECK(greens.empty(), "greens for lights that do not act");
    pool_->step(env, write_commands(commands));
    return;
  }
  write_joint_order(commands, greens, order_);
  pool_->step(env, order_);
}

void TrafficPool::read_answer(int env, std::span<const std::byte> bytes) {
  const auto e = static_cast<std::size_t>(env);
  if (!joint_) {
    read_period(bytes, periods_[e]);
    return;
  }
  const JointParts parts = joint_parts(bytes);
  read_period(parts.vehicles, periods_[e]);
  signal_periods_[e] = read_signal_period(parts.lights);
}

std::optional<Event> TrafficPool::wait_any(std::span<const int> envs, double timeout_s) {
  const auto event = pool_->wait_any(envs, timeout_s);
  if (!event) return event;
  return checked_answer(*pool_, *event, [&](std::span<const std::byte> bytes) {
    read_answer(event->env, bytes);
    return periods_[static_cast<std::size_t>(event->env)].done();
  });
}

void TrafficPool::wait_all(std::span<const int> envs, std::vector<Event>& events) {
  // In the order of their coming, so that one answer is read while the others are simulated.
  const auto is_busy = [this](int env) { return busy(env); };
  events.clear();
  while (std::any_of(envs.begin(), envs.end(), is_busy)) events.push_back(*wait_any(envs));
  const auto place = [&](const Event& e) { return std::find(envs.begin(), envs.end(), e.env); };
  std::sort(events.begin(), events.end(),
            [&](const Event& a, const Event& b) { return place(a) < place(b); });
}

const Period& TrafficPool::period(int env) const {
  TRAFFIC_CHECK(pool_->has_answer(env), "environment {} has no answer", env);
  return periods_[static_cast<std::size_t>(env)];
}

const SignalPeriod& TrafficPool::signal_period(int env) const {
  TRAFFIC_CHECK(joint_ && pool_->has_answer(env), "environment {} has no answer of lights", env);
  return signal_periods_[static_cast<std::size_t>(env)];
}

}  // namespace traffic::rollout
