/// Lets a process sleep until another process changes a word of their shared memory.
#pragma once

#include <atomic>
#include <cstdint>

namespace traffic::os {

static_assert(std::atomic<std::uint32_t>::is_always_lock_free &&
                  sizeof(std::atomic<std::uint32_t>) == sizeof(std::uint32_t),
              "a futex word is shared between processes");

/// Sleeps while word == value, at most timeout_s. The function may return before the word changes,
/// so the caller must check the word again.
/// @return false if the time was up
/// @throws std::system_error for a word that cannot be waited on
bool sleep_while_equal(const std::atomic<std::uint32_t>& word, std::uint32_t value,
                       double timeout_s);

/// Wakes every process that sleeps on the word. Change the word before the call.
void wake_all(const std::atomic<std::uint32_t>& word) noexcept;

}  // namespace traffic::os
