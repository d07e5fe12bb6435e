// Collector: runs the environments of a pool, and calls a handler whenever an environment needs
// decisions. It runs a number of episodes, or fragments of a given number of steps.
#include "traffic/rollout/pool/collector.h"

#include <algorithm>

namespace traffic::rollout {

/// State of one call of run_episodes() or run_fragments().
struct Collector::Call {
  EpisodeHandler& handler;
  FragmentHandler* fragments = nullptr;  ///< in run_fragments(): `handler`; otherwise null
  const Stop& stop;
  std::int64_t count = 0;  ///< number of episodes to run; unused in run_fragments()
  std::int64_t next = 0;   ///< index of the next episode to begin; unused in run_fragments()
  std::vector<Event> events{};
};

bool Collector::run_episodes(std::size_t count, EpisodeHandler& handler, const Stop& stop) {
  Call call{.handler = handler, .stop = stop, .count = static_cast<std::int64_t>(count)};
  for (const int env : pool_.my_envs()) begin(call, env);
  return drive(call, {});
}

bool Collector::run_fragments(std::int64_t steps, FragmentHandler& handler, const Stop& stop) {
  Call call{.handler = handler, .fragments = &handler, .stop = stop};
  std::vector<int> ready;
  for (const int env : pool_.my_envs()) {
    EpisodeProgress& progress = handler.progress(env);
    progress.steps_left = steps;
    progress.contributed = 0;
    if (!progress.running) {
      begin(call, env);
    } else if (handler.resume(env)) {
      ready.push_back(env);
    }
  }
  return drive(call, std::move(ready));
}

bool Collector::drive(Call& call, std::vector<int> deciding) {
  if (!deciding.empty()) decide(call, deciding);
  bool any = true;
  while (any) {
    if (call.stop && call.stop()) return false;
    any = false;
    for (const auto& group : pool_.groups()) {
      if (std::none_of(group.begin(), group.end(), [this](int env) { return pool_.busy(env); })) {
        continue;
      }
      any = true;
      {
        const auto waiting = time_split_.measure(TimeShare::kSimulate);
        pool_.wait_all(group, call.events);
      }
      const auto inferring = time_split_.measure(TimeShare::kInfer);
      deciding.clear();
      for (const Event& event : call.events) handle(call, event, deciding);
      if (!deciding.empty()) decide(call, deciding);
    }
  }
  return true;
}

/// Begins the next episode, or begins the current episode again if its environment was lost.
void Collector::begin(Call& call, int env) {
  EpisodeProgress& progress = call.handler.progress(env);
  if (call.fragments != nullptr) {
    if (progress.steps_left == 0) return;
    if (!progress.running) ++progress.episode;
  } else if (!progress.running) {
    if (call.next == call.count) return;
    progress.episode = call.next++;
  }
  progress.running = true;
  progress.contributed = 0;
  call.handler.begin(env);
}

void Collector::handle(Call& call, const Event& event, std::vector<int>& deciding) {
  EpisodeProgress& progress = call.handler.progress(event.env);
  if (event.lost) {
    call.handler.lose(event);
    ++progress.losses;
    progress.steps_left += progress.contributed;
    begin(call, event.env);
    return;
  }
  if (!call.handler.take_in(event.env)) return;
  if (!event.done) {
    deciding.push_back(event.env);
    return;
  }
  call.handler.end(event.env);
  progress.running = false;
  progress.losses = 0;
  begin(call, event.env);
}

void Collector::decide(Call& call, std::vector<int>& envs) {
  call.handler.observe(envs);
  if (call.fragments != nullptr) {
    std::erase_if(envs, [&](int env) {
      if (call.handler.progress(env).steps_left > 0) return false;
      call.fragments->cut(env);
      return true;
    });
    for (const int env : envs) {
      EpisodeProgress& progress = call.handler.progress(env);
      --progress.steps_left;
      ++progress.contributed;
    }
  }
  if (!envs.empty()) call.handler.decide(envs);
}

}  // namespace traffic::rollout
