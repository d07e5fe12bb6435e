#include "monitor/reading_threads.h"

#include <algorithm>

#include "traffic/os/affinity.h"

namespace traffic::train {

config::Data with_reading_threads(config::Data data, const comm::Communicator& communicator) {
  if (data.num_workers > 0) return data;
  // On the CPU a reading thread takes time from training, which is far slower than reading.
  constexpr int kMost = 8;
  const int processors = os::num_cpus_available() / communicator.topology().local_size();
  data.num_workers = communicator.device().is_cuda() ? std::clamp(processors / 2, 1, kMost) : 1;
  return data;
}

}  // namespace traffic::train
