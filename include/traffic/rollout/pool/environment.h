/// An environment of a pool: takes orders as bytes and answers with bytes.
///
/// Only the environment and the codec of its user know the meaning of the bytes; no pool looks into
/// them. An environment may keep state between the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace traffic::rollout {

/// The pool as an environment sees it. Counts cover all processes that the environment has had.
class EnvHost {
 public:
  EnvHost() = default;
  virtual ~EnvHost() = default;
  EnvHost(const EnvHost&) = delete;
  EnvHost& operator=(const EnvHost&) = delete;

  /// Reports the begin of a simulation step, as a sign of life. @return number of earlier steps
  virtual std::uint64_t begin_step() = 0;
  /// Number of episodes that reached their end.
  [[nodiscard]] virtual std::uint64_t episodes() const = 0;
};

/// For use by one thread. If a call throws, the episode is lost and a new environment takes the
/// place of this one. A pool of processes makes an environment for every episode in a new process,
/// so that nothing is left of earlier episodes. LocalPool resets the same environment again and
/// again.
class Environment {
 public:
  struct Answer {
    std::size_t size_bytes = 0;  ///< written to the room
    bool done = false;           ///< the episode has ended
  };

  Environment() = default;
  virtual ~Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Called once in a process of its own, before the first episode of a pool of processes.
  /// @throws an error that would prevent every episode
  virtual void try_out() {}
  /// Begins a new episode.
  /// @param room for the answer, aligned to 64 bytes
  virtual Answer reset(std::span<const std::byte> order, std::span<std::byte> room,
                       EnvHost& host) = 0;
  /// Continues the episode, after reset() and before its end.
  virtual Answer step(std::span<const std::byte> order, std::span<std::byte> room,
                      EnvHost& host) = 0;
};

/// Identity of an environment that is being made.
struct EnvPlace {
  std::uint32_t env = 0;
  std::uint32_t incarnation = 1;  ///< number of environments made in this place, including this one
};

}  // namespace traffic::rollout
