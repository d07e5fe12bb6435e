/// The interface Environment of a simulation or game that a pool runs: it receives orders as bytes
/// and answers with bytes. A new kind of environment implements it.
///
/// A pool passes the bytes on and does not interpret them. Their meaning is agreed between the
/// environment and the code that uses the pool.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace traffic::rollout {

/// What a pool provides to an environment while it runs. The counts go on when the pool replaces an
/// environment that has failed.
class EnvHost {
 public:
  EnvHost() = default;
  virtual ~EnvHost() = default;
  EnvHost(const EnvHost&) = delete;
  EnvHost& operator=(const EnvHost&) = delete;

  /// An environment calls it at the beginning of every simulation step, which shows the pool that
  /// it does not hang. @return number of earlier steps
  virtual std::uint64_t begin_step() = 0;
  /// Number of episodes of this environment that reached their end.
  [[nodiscard]] virtual std::uint64_t episodes() const = 0;
};

/// A simulation or game; it may keep state between calls. For use by one thread.
///
/// If a call throws, the episode is lost and the pool replaces this environment by a new one.
/// WorkerPool creates an environment for every episode in a new process, so that nothing is left of
/// earlier episodes. LocalPool resets the same environment for every episode.
class Environment {
 public:
  struct Answer {
    std::size_t size_bytes = 0;  ///< number of bytes written to `room`
    bool done = false;           ///< the episode has ended
  };

  Environment() = default;
  virtual ~Environment() = default;
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// Checks that episodes can run. WorkerPool calls it once, in a separate process, before the
  /// first episode.
  /// @throws the error that would prevent every episode
  virtual void try_out() {}
  /// Begins a new episode.
  /// @param room memory into which the environment writes its answer, aligned to 64 bytes
  virtual Answer reset(std::span<const std::byte> order, std::span<std::byte> room,
                       EnvHost& host) = 0;
  /// Carries out an order of the episode that reset() has begun and that has not ended.
  virtual Answer step(std::span<const std::byte> order, std::span<std::byte> room,
                      EnvHost& host) = 0;
};

/// Identifies an environment that a pool creates.
struct EnvPlace {
  std::uint32_t env = 0;          ///< index of the environment in the pool
  std::uint32_t incarnation = 1;  ///< 1 for the first environment of this index; each replacement
                                  ///< counts one more
};

}  // namespace traffic::rollout
