/// Access to a slot, the shared memory through which a rank and one simulation exchange commands
/// and answers (SlotHead in layout.h). There is a class for each of the three processes that use
/// it: the rank sends commands, the simulation answers, and the rollout worker, which starts and
/// watches the simulation, answers when it has died. None of the classes owns the memory.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "layout.h"

namespace traffic::rollout {

/// The rank's access to a slot: sends commands and reads answers. For use by one thread.
class RankSlot {
 public:
  /// An answer without its payload, which stays in reply_buffer().
  struct Answer {
    ReplyKind kind = ReplyKind::kLost;
    std::uint32_t incarnation = 0;
    std::uint64_t size = 0;  ///< size of the payload, as the simulation claims; not checked yet
  };

  explicit RankSlot(SlotView view) : view_(view) {}

  /// Whether the last command has not been answered yet.
  [[nodiscard]] bool busy() const;
  /// Copies the command into the slot. The slot must not be busy.
  /// @param incarnation for kStep: number of the process that began the episode (SlotHead)
  void post(CommandKind kind, std::uint32_t incarnation, std::span<const std::byte> payload);
  /// The answer to the last command. The slot must not be busy.
  [[nodiscard]] Answer answer() const;
  [[nodiscard]] std::span<const std::byte> reply_buffer() const { return view_.reply; }
  /// Seconds since the last command was posted.
  [[nodiscard]] double seconds_since_command() const;
  /// Makes the worker replace the process with this number, because it wrote an invalid answer.
  void reject(std::uint32_t incarnation);
  /// Why the last process of this simulation that died has ended.
  [[nodiscard]] std::string death() const { return view_.head->death.get(); }
  [[nodiscard]] SlotCounters& counters() const { return view_.head->counters; }

 private:
  SlotView view_;
};

/// The simulation's access to its slot: waits for commands and answers them.
class EnvSlot {
 public:
  /// A command.
  struct Order {
    CommandKind kind = CommandKind::kReset;
    std::uint32_t incarnation = 0;
    std::span<const std::byte> payload;
  };

  EnvSlot(SlotView view, Bell& bell, std::uint32_t incarnation)
      : view_(view), bell_(bell), incarnation_(incarnation) {}

  /// Tells the worker that this process has started, and publishes its pid.
  void announce_ready();
  /// Waits for a command. @return the command; empty if there was none within timeout_s
  /// @throws WorkerError if the command is larger than the slot's memory for commands
  [[nodiscard]] std::optional<Order> wait(double timeout_s);
  /// Gives a sign of life between two answers.
  void progress();
  [[nodiscard]] std::span<std::byte> reply_buffer() const { return view_.reply; }
  void answer(ReplyKind kind, std::size_t payload_bytes);
  /// Sets the reason that the worker reports when this process ends.
  void explain_end(std::string_view why) { view_.head->error.set(why); }
  [[nodiscard]] std::uint32_t incarnation() const { return incarnation_; }
  [[nodiscard]] SlotCounters& counters() const { return view_.head->counters; }

 private:
  SlotView view_;
  Bell& bell_;
  std::uint32_t incarnation_;
};

/// The rollout worker's access to a slot: watches the simulation, and answers in its place when it
/// has died.
class WorkerSlot {
 public:
  WorkerSlot(SlotView view, Bell& bell) : view_(view), bell_(bell) {}

  /// Call it before a new process starts. @return the incarnation of that process
  std::uint32_t begin_incarnation();
  [[nodiscard]] bool ready() const;     ///< whether the present process has reported its start
  [[nodiscard]] bool pending() const;   ///< whether a command waits for its answer
  [[nodiscard]] bool rejected() const;  ///< whether the rank wants the present process replaced
  /// Time of the last command or sign of life, whichever is later.
  [[nodiscard]] std::int64_t last_activity_ns() const;
  /// The reason that the process itself gave for its end; may be empty.
  [[nodiscard]] std::string explanation() const { return view_.head->error.get(); }
  /// Call it once the process is dead (reaped). If a command waits for its answer, the answer is
  /// that the episode is lost. A command to begin an episode stays unanswered if the process died
  /// before it was ready, because the next process can carry it out.
  void report_death(std::string_view why);
  [[nodiscard]] SlotCounters& counters() const { return view_.head->counters; }

 private:
  SlotView view_;
  Bell& bell_;
};

/// Wakes the rank that sleeps on the bell.
void ring(Bell& bell);

}  // namespace traffic::rollout
