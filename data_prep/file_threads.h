/// Processes several files at once in threads of this process, for commands that add up results.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace traffic::data_prep {

/// Runs work(0) .. work(n - 1), at most `jobs` at once (0: one for each CPU), with a progress bar
/// of n files.
/// @throws the exception of the failed work with the lowest number, after all have ended
void for_each_on_threads(std::size_t n, std::int64_t jobs, const char* label,
                         const std::function<void(std::size_t)>& work);

}  // namespace traffic::data_prep
