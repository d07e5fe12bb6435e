// Commands and answers in a slot, the shared memory of one simulation (slot.h).
#include "slot.h"

#include <unistd.h>

#include <cstring>

#include "traffic/core/clock.h"
#include "traffic/core/error.h"
#include "traffic/os/futex.h"

namespace traffic::rollout {

void ring(Bell& bell) {
  bell.rings.fetch_add(1, std::memory_order_release);
  os::wake_all(bell.rings);
}

bool RankSlot::busy() const {
  return view_.head->command_seq.load(std::memory_order_relaxed) !=
         view_.head->reply_seq.load(std::memory_order_acquire);
}

void RankSlot::post(CommandKind kind, std::uint32_t incarnation,
                    std::span<const std::byte> payload) {
  TRAFFIC_CHECK(!busy(), "the last command is not answered yet");
  if (payload.size() > view_.command.size()) {
    throw WorkerError("a command for a simulation has {} bytes, but there is room for {} only",
                      payload.size(), view_.command.size());
  }
  SlotHead& head = *view_.head;
  if (!payload.empty()) std::memcpy(view_.command.data(), payload.data(), payload.size());
  head.command_kind = kind;
  head.command_incarnation = incarnation;
  head.command_size = payload.size();
  head.command_ns.store(monotonic_ns(), std::memory_order_relaxed);
  head.command_seq.fetch_add(1, std::memory_order_release);
  os::wake_all(head.command_seq);
}

RankSlot::Answer RankSlot::answer() const {
  TRAFFIC_CHECK(!busy(), "the last command is not answered yet");
  const SlotHead& head = *view_.head;
  return {.kind = head.reply_kind, .incarnation = head.reply_incarnation, .size = head.reply_size};
}

double RankSlot::seconds_since_command() const {
  const auto posted_ns = view_.head->command_ns.load(std::memory_order_relaxed);
  return static_cast<double>(monotonic_ns() - posted_ns) * 1e-9;
}

void RankSlot::reject(std::uint32_t incarnation) {
  view_.head->rejected_incarnation.store(incarnation, std::memory_order_release);
}

void EnvSlot::announce_ready() {
  progress();
  view_.head->pid.store(getpid(), std::memory_order_relaxed);
  view_.head->ready_incarnation.store(incarnation_, std::memory_order_release);
}

std::optional<EnvSlot::Order> EnvSlot::wait(double timeout_s) {
  SlotHead& head = *view_.head;
  const auto answered = head.reply_seq.load(std::memory_order_relaxed);
  if (head.command_seq.load(std::memory_order_acquire) == answered) {
    os::sleep_while_equal(head.command_seq, answered, timeout_s);
    if (head.command_seq.load(std::memory_order_acquire) == answered) return std::nullopt;
  }
  const std::uint64_t size = head.command_size;
  if (size > view_.command.size()) {
    throw WorkerError("received a command of {} bytes, but there is room for {} only", size,
                      view_.command.size());
  }
  return Order{.kind = head.command_kind,
               .incarnation = head.command_incarnation,
               .payload = view_.command.first(size)};
}

void EnvSlot::progress() {
  view_.head->progress_ns.store(monotonic_ns(), std::memory_order_relaxed);
}

void EnvSlot::answer(ReplyKind kind, std::size_t payload_bytes) {
  TRAFFIC_CHECK(payload_bytes <= view_.reply.size(),
                "an answer has {} bytes, but there is room for {} only", payload_bytes,
                view_.reply.size());
  SlotHead& head = *view_.head;
  head.reply_kind = kind;
  head.reply_incarnation = incarnation_;
  head.reply_size = payload_bytes;
  head.reply_seq.store(head.command_seq.load(std::memory_order_relaxed), std::memory_order_release);
  ring(bell_);
}

std::uint32_t WorkerSlot::begin_incarnation() {
  SlotHead& head = *view_.head;
  head.error.set("");
  return head.incarnation.fetch_add(1, std::memory_order_relaxed) + 1;
}

bool WorkerSlot::ready() const {
  return view_.head->ready_incarnation.load(std::memory_order_acquire) ==
         view_.head->incarnation.load(std::memory_order_relaxed);
}

bool WorkerSlot::pending() const {
  return view_.head->command_seq.load(std::memory_order_acquire) !=
         view_.head->reply_seq.load(std::memory_order_acquire);
}

bool WorkerSlot::rejected() const {
  return view_.head->rejected_incarnation.load(std::memory_order_acquire) ==
         view_.head->incarnation.load(std::memory_order_relaxed);
}

std::int64_t WorkerSlot::last_activity_ns() const {
  return std::max(view_.head->command_ns.load(std::memory_order_relaxed),
                  view_.head->progress_ns.load(std::memory_order_relaxed));
}

void WorkerSlot::report_death(std::string_view why) {
  SlotHead& head = *view_.head;
  head.pid.store(0, std::memory_order_relaxed);
  head.death.set(why);
  const auto asked = head.command_seq.load(std::memory_order_acquire);
  if (asked == head.reply_seq.load(std::memory_order_relaxed)) return;
  // The dead process was not ready yet, so it had not begun the episode. The next process will
  // carry out the command.
  if (!ready() && head.command_kind == CommandKind::kReset) return;
  head.reply_kind = ReplyKind::kLost;
  head.reply_incarnation = head.incarnation.load(std::memory_order_relaxed);
  head.reply_size = 0;
  head.reply_seq.store(asked, std::memory_order_release);
  ring(bell_);
}

}  // namespace traffic::rollout
