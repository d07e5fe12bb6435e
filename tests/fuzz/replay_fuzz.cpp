// Fuzz target: reads a file with a segment of a replay, as a checkpoint of unknown origin may name
// it, and draws transitions from the segment.
#include <span>

#include "replay/streams.h"
#include "traffic/core/error.h"
#include "traffic/replay/replay.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  namespace replay = traffic::replay;
  constexpr replay::SegmentShape kShape{.steps = 8, .streams = 3, .obs_dim = 5, .action_dim = 4};
  try {
    auto segment = std::make_shared<replay::Segment>(
        replay::Segment::from_bytes(std::as_bytes(std::span(data, size)), kShape));
    replay::Replay restored({.capacity = 48, .segment = kShape});
    restored.restore({segment});
    if (restored.num_drawable(3) == 0) return 0;
    replay::Batch batch(kShape, 16);
    traffic::Rng rng(1);
    restored.draw({.n_step = 3, .gamma = 0.5}, rng, batch.rows());
  } catch (const traffic::Error&) {
  }
  return 0;
}
