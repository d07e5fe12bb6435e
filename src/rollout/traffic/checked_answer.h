/// Answers of simulations are believed when they have been read.
#pragma once

#include <fmt/format.h>

#include "traffic/core/error.h"
#include "traffic/rollout/pool/env_pool.h"

namespace traffic::rollout {

/// The event of an answer, once it is read; what cannot be read, or says something else of the
/// episode's end than the simulation, is rejected and its episode lost.
/// @param read takes the answer's bytes. @return whether they say that the episode is done.
///   @throws WorkerError
template <typename Read>
Event checked_answer(EnvPool& pool, const Event& event, const Read& read) {
  if (event.lost) return event;
  try {
    const bool done = read(pool.answer(event.env));
    if (done != event.done) {
      throw WorkerError("observation says {} and the simulation {} of the episode's end", done,
                        event.done);
    }
  } catch (const WorkerError& error) {
    pool.reject(event.env);
    return {.env = event.env,
            .lost = true,
            .why = fmt::format("simulation {}: {}", event.env, error.what())};
  }
  return event;
}

}  // namespace traffic::rollout
