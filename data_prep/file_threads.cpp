#include "file_threads.h"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "traffic/os/affinity.h"
#include "traffic/report/progress_bar.h"

namespace traffic::data_prep {

void for_each_on_threads(std::size_t n, std::int64_t jobs, const char* label,
                         const std::function<void(std::size_t)>& work) {
  std::mutex mutex;
  std::condition_variable changed;
  std::size_t next = 0;
  std::size_t done = 0;
  std::vector<std::exception_ptr> errors(n);
  const auto take_turns = [&] {
    std::unique_lock lock(mutex);
    while (next < n) {
      const std::size_t i = next++;
      lock.unlock();
      try {
        work(i);
      } catch (...) {
        errors[i] = std::current_exception();
      }
      lock.lock();
      ++done;
      changed.notify_one();
    }
  };
  const auto most = static_cast<std::size_t>(jobs > 0 ? jobs : os::num_cpus_available());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < std::min(most, n); ++i) threads.emplace_back(take_turns);
  {
    report::ProgressBar bar(
        {.label = label, .total_steps = static_cast<std::int64_t>(n), .unit = "files"});
    std::unique_lock lock(mutex);
    for (std::size_t shown = 0; shown < n;) {
      changed.wait(lock, [&] { return done > shown; });
      bar.update(static_cast<std::int64_t>(done), static_cast<std::int64_t>(done - shown), {});
      shown = done;
    }
  }
  for (auto& thread : threads) thread.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace traffic::data_prep
