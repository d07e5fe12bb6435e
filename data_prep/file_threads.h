/// Processes several files at the same time in threads of this process, for commands that only
/// compute statistics.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace traffic::data_prep {

/// Calls work(0) to work(n - 1) and shows a progress bar of n files.
/// @param jobs maximum number of calls at the same time; 0 means one for each CPU
/// @throws the exception of the failed call with the lowest number, after all calls have ended
void for_each_on_threads(std::size_t n, std::int64_t jobs, const char* label,
                         const std::function<void(std::size_t)>& work);

}  // namespace traffic::data_prep
