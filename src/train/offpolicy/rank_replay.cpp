#include "offpolicy/rank_replay.h"

#include "offpolicy/start.h"
#include "traffic/core/process.h"

namespace traffic::train::offpolicy {

RankReplay::RankReplay(const Setting& setting, const Streams& streams)
    : setting_(setting),
      replay_(options_of(setting, streams)),
      rank_state_(replay_, setting.communicator, streams.ids),
      batch_(replay_.options().segment,
             batch_of_rank(setting.learning, setting.communicator.size())) {}

replay::ReplayOptions RankReplay::options_of(const Setting& setting, const Streams& streams) {
  constexpr std::int64_t kStepsOfSegment = 64;
  const replay::ReplayOptions options{.capacity = setting.learning.buffer_size,
                                      .segment = {.steps = kStepsOfSegment,
                                                  .streams = streams.count,
                                                  .obs_dim = streams.obs_dim,
                                                  .action_dim = streams.action_dim}};
  check_replay_fits(options.bytes(), setting.communicator.topology().local_size(),
                    total_memory_bytes());
  return options;
}

Rng RankReplay::rng_of(RandomStream stream, std::int64_t number) const {
  return Rng(
      derive_seed(setting_.seed, {stream, static_cast<std::uint64_t>(setting_.communicator.rank()),
                                  static_cast<std::uint64_t>(number)}));
}

std::int64_t RankReplay::least_transitions() const {
  return static_cast<std::int64_t>(setting_.communicator.all_reduce_scalar(
      static_cast<double>(num_transitions()), comm::ReduceOp::kMin));
}

std::int64_t RankReplay::all_transitions() const {
  return static_cast<std::int64_t>(
      setting_.communicator.all_reduce_scalar(static_cast<double>(num_transitions())));
}

const Batch& RankReplay::draw(Rng& rng) {
  replay_.draw({.n_step = setting_.learning.n_step, .gamma = setting_.learning.gamma}, rng,
               batch_.rows());
  return batch_.batch();
}

}  // namespace traffic::train::offpolicy
