/// What a pool runs: an environment takes orders as bytes and answers with bytes.
///
/// What the bytes mean is known to the environment and to the codec that whoever commands it uses;
/// no pool looks into them. An environment may keep any state of its own between the calls.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

namespace traffic::rollout {

/// Where an environment runs, as it sees it. What is counted is counted over all processes that the
/// environment has had.
class EnvHost {
 public:
  EnvHost() = default;
  virtual ~EnvHost() = default;
  EnvHost(const EnvHost&) = delete;
  EnvHost& operator=(const EnvHost&) = delete;

  /// A simulation step begins: a sign of life. @return how many there were before
  virtual std::uint64_t begin_step() = 0;
  /// Episodes that were brought to their end.
  [[nodiscard]] virtual std::uint64_t episodes() const = 0;
};

/// One thread. What a call throws costs the episode: the environment is replaced by a new one. In a
/// pool of processes one is made for every episode, in a process of its own, so that nothing is
/// left of the episodes before; where the rank steps them, the same one is reset again and again.
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

  /// Called on one of a pool of processes, in a process of its own, before there is any episode.
  /// @throws what would keep every episode from beginning
  virtual void try_out() {}
  /// Begins an episode, whatever became of the one before.
  /// @param room for the answer, aligned to 64 bytes
  virtual Answer reset(std::span<const std::byte> order, std::span<std::byte> room,
                       EnvHost& host) = 0;
  /// Goes on with the episode; after a reset, and not after its end.
  virtual Answer step(std::span<const std::byte> order, std::span<std::byte> room,
                      EnvHost& host) = 0;
};

/// Which environment of a pool is to be made.
struct EnvPlace {
  std::uint32_t env = 0;
  std::uint32_t incarnation = 1;  ///< how many it will have been, with this one
};

}  // namespace traffic::rollout
