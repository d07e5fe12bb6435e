// Carries out the commands of a rank in an environment process (environment_loop.h).
#include "environment_loop.h"

namespace traffic::rollout {

bool EnvironmentLoop::serve(double timeout_s) {
  const auto order = slot_.wait(timeout_s);
  if (!order) return true;
  Environment::Answer answer;
  if (order->kind == CommandKind::kReset) {
    if (in_episode_) return false;  // the rank has begun another episode before this one ended
    answer = environment_.reset(order->payload, slot_.reply_buffer(), *this);
  } else if (order->incarnation == slot_.incarnation() && in_episode_) {
    answer = environment_.step(order->payload, slot_.reply_buffer(), *this);
  } else {
    // The step belongs to an episode that was lost with an earlier process.
    slot_.answer(ReplyKind::kLost, 0);
    return true;
  }
  in_episode_ = !answer.done;
  if (answer.done) slot_.counters().episodes.fetch_add(1, std::memory_order_relaxed);
  slot_.answer(answer.done ? ReplyKind::kEnd : ReplyKind::kAnswer, answer.size_bytes);
  return in_episode_;
}

std::uint64_t EnvironmentLoop::begin_step() {
  slot_.progress();
  return slot_.counters().steps.fetch_add(1, std::memory_order_relaxed);
}

std::uint64_t EnvironmentLoop::episodes() const {
  return slot_.counters().episodes.load(std::memory_order_relaxed);
}

}  // namespace traffic::rollout
