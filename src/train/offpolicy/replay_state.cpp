#include "offpolicy/replay_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <deque>
#include <memory>
#include <span>
#include <sstream>
#include <utility>

#include "traffic/checkpoint/parts.h"
#include "traffic/core/error.h"

namespace traffic::train::offpolicy {
namespace {

constexpr const char* kNumRanks = "offpolicy/num_ranks";
constexpr const char* kReplayEntry = "parts/replay-rank";

std::string games_entry(int rank) { return fmt::format("parts/games-rank{}", rank); }
std::string replay_entry(int rank) { return fmt::format("{}{}", kReplayEntry, rank); }
std::string streams_entry(int rank) { return fmt::format("offpolicy/streams-rank{}", rank); }

std::shared_ptr<replay::Segment> read_segment(const checkpoint::Snapshot& snapshot,
                                              const std::string& name,
                                              const replay::SegmentShape& shape) {
  try {
    return std::make_shared<replay::Segment>(
        replay::Segment::from_bytes(checkpoint::read_part(snapshot, name), shape));
  } catch (const CheckpointError& error) {
    throw CheckpointError("checkpoint {}, part {}: {}", snapshot.source(), name, error.what());
  }
}

/// Number of ranks that saved the checkpoint.
int num_ranks_of(const checkpoint::Snapshot& snapshot) {
  const std::int64_t num_ranks = snapshot.integer(kNumRanks);
  const std::int64_t num_replays = std::ssize(snapshot.names(kReplayEntry));
  if (num_ranks < 1 || num_ranks != num_replays) {
    throw CheckpointError(
        "checkpoint {}: '{}' is {}, but it has the replays of {} ranks; this program did not write "
        "it: use another checkpoint",
        snapshot.source(), kNumRanks, num_ranks, num_replays);
  }
  return static_cast<int>(num_ranks);
}

/// The last `count` names.
std::span<const std::string> newest(const std::vector<std::string>& names, std::size_t count) {
  return std::span(names).last(std::min(names.size(), count));
}

/// Throws if the last segment read so far is not full although another segment of its replay
/// follows.
/// @param before the segments read so far
void require_full_but_last(const checkpoint::Snapshot& snapshot,
                           const replay::Replay::Segments& before) {
  if (before.empty() || before.back()->is_full()) return;
  throw CheckpointError(
      "checkpoint {}: segment {} of a replay has {} steps, expected {} in all segments but the "
      "last; this program did not write it: use another checkpoint",
      snapshot.source(), before.size(), before.back()->filled(), before.back()->shape().steps);
}

/// Collective. Stores the texts of all ranks in the snapshot, so that the snapshots of all ranks
/// are equal.
/// @param entry returns the name of the entry for the text of a rank
/// @param own text of this rank
void put_texts_of_ranks(checkpoint::Snapshot& snapshot, std::string (*entry)(int rank),
                        const std::string& own, comm::Communicator& communicator) {
  const std::vector<std::string> all = communicator.gather_strings(own, 0);
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const std::string text = all.empty() ? std::string() : all[static_cast<std::size_t>(rank)];
    snapshot.put_text(entry(rank), communicator.broadcast_string(text, 0));
  }
}

/// Streams and segments of a former rank (a rank of the run that saved the checkpoint). A stream is
/// the sequence of steps of one environment or agent; a segment is a block of consecutive steps.
struct FormerRank {
  std::vector<std::int64_t> stream_ids{};
  std::vector<std::string> parts;
};
FormerRank read_former_rank(const checkpoint::Snapshot& snapshot, int rank) {
  FormerRank former{.parts = checkpoint::parts_of(snapshot, replay_entry(rank))};
  std::istringstream ids(snapshot.text(streams_entry(rank)));
  for (std::int64_t id = 0; ids >> id;) former.stream_ids.push_back(id);
  return former;
}

/// Index of the segment that contains a stream, and the stream's index in it.
struct StreamPlace {
  std::size_t segment = 0;
  std::int64_t stream = 0;
};

/// Makes a new segment that contains the streams at these places.
/// @param from segments that cover the same steps, one of each former rank
std::shared_ptr<replay::Segment> join_streams(
    const std::vector<std::shared_ptr<replay::Segment>>& from,
    const std::vector<StreamPlace>& places, const replay::SegmentShape& shape) {
  bool continues = true;
  std::int64_t steps = shape.steps;
  for (const auto& segment : from) {
    continues = continues && segment->continues();
    steps = std::min(steps, segment->filled());
  }
  auto joined = std::make_shared<replay::Segment>(shape, continues);
  const auto count = places.size();
  std::vector<float> obs(count * static_cast<std::size_t>(shape.obs_dim));
  std::vector<float> vectors(count * static_cast<std::size_t>(shape.action_dim));
  std::vector<float> rewards(count);
  std::vector<std::uint8_t> actions(count);
  std::vector<std::uint8_t> ends(count);
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::size_t i = 0; i < count; ++i) {
      const replay::Segment& segment = *from[places[i].segment];
      const std::int64_t stream = places[i].stream;
      const auto row = static_cast<std::int64_t>(i);
      replay::widen(segment.obs(step, stream), shape.obs_dim, obs.data() + row * shape.obs_dim);
      replay::widen(segment.action_vector(step, stream), shape.action_dim,
                    vectors.data() + row * shape.action_dim);
      rewards[i] = segment.reward(step, stream);
      actions[i] = segment.action(step, stream);
      ends[i] = segment.end(step, stream);
    }
    joined->push({.obs = obs,
                  .actions = actions,
                  .action_vectors = vectors,
                  .rewards = rewards,
                  .ends = ends});
  }
  return joined;
}

}  // namespace

void RankState::save_to(checkpoint::Snapshot& snapshot, checkpoint::Bytes games) const {
  const replay::Replay::Segments segments = replay_.segments();
  std::map<std::int64_t, std::string> names;
  std::vector<std::string> in_order;
  std::int64_t number = replay_.num_forgotten();
  for (const auto& segment : segments) {
    const auto known = known_names_.find(number);
    const std::string name =
        known != known_names_.end() ? known->second : checkpoint::part_name(segment->to_bytes());
    if (segment->is_full()) names[number] = name;
    snapshot.add_part({.name = name, .bytes = [segment] { return segment->to_bytes(); }});
    in_order.push_back(name);
    ++number;
  }
  known_names_ = std::move(names);
  const std::string games_part = checkpoint::part_name(games);
  snapshot.add_part({.name = games_part, .bytes = [games = std::move(games)] { return games; }});
  put_texts_of_ranks(snapshot, games_entry, games_part, communicator_);
  put_texts_of_ranks(snapshot, replay_entry, fmt::format("{}", fmt::join(in_order, " ")),
                     communicator_);
  if (!stream_ids_.empty()) {
    put_texts_of_ranks(snapshot, streams_entry, fmt::format("{}", fmt::join(stream_ids_, " ")),
                       communicator_);
  }
  snapshot.put_int(kNumRanks, communicator_.size());
}

RankState::Restored RankState::restore_from(const checkpoint::Snapshot& snapshot) {
  const int num_ranks = num_ranks_of(snapshot);
  known_names_.clear();
  if (num_ranks != communicator_.size()) {
    stream_ids_.empty() ? deal_out(snapshot, num_ranks) : gather_streams(snapshot, num_ranks);
    return {.same_ranks = false, .games = {}};
  }
  restore_own(snapshot);
  const auto games = checkpoint::parts_of(snapshot, games_entry(communicator_.rank()));
  if (games.size() != 1) {
    throw CheckpointError(
        "checkpoint {}: it names {} parts for the games of rank {}, expected one; use another "
        "checkpoint",
        snapshot.source(), games.size(), communicator_.rank());
  }
  return {.same_ranks = true, .games = checkpoint::read_part(snapshot, games.front())};
}

void RankState::restore_own(const checkpoint::Snapshot& snapshot) {
  const std::vector<std::string> names =
      checkpoint::parts_of(snapshot, replay_entry(communicator_.rank()));
  replay::Replay::Segments segments;
  for (const std::string& name : newest(names, max_segments())) {
    require_full_but_last(snapshot, segments);
    segments.push_back(read_segment(snapshot, name, replay_.options().segment));
  }
  replay_.restore(segments);
}

std::size_t RankState::max_segments() const {
  return static_cast<std::size_t>(replay_.options().max_segments());
}

/// Gives every rank an equal share of the full segments of all former ranks, in their order.
void RankState::deal_out(const checkpoint::Snapshot& snapshot, int num_ranks_before) {
  // Names of all segments, and whether a segment is the first of its rank.
  std::vector<std::pair<std::string, bool>> all;
  for (int rank = 0; rank < num_ranks_before; ++rank) {
    bool first = true;
    for (std::string& name : checkpoint::parts_of(snapshot, replay_entry(rank))) {
      all.emplace_back(std::move(name), std::exchange(first, false));
    }
  }
  const auto rank = static_cast<std::size_t>(communicator_.rank());
  const auto size = static_cast<std::size_t>(communicator_.size());
  const std::size_t first = all.size() * rank / size;
  std::deque<std::shared_ptr<replay::Segment>> own;
  for (std::size_t i = all.size() * (rank + 1) / size; i > first && own.size() < max_segments();
       --i) {
    const auto segment = read_segment(snapshot, all[i - 1].first, replay_.options().segment);
    if (all[i - 1].second) segment->set_continues(false);
    if (segment->is_full()) own.push_front(segment);
  }
  if (!own.empty()) own.front()->set_continues(false);
  replay_.restore({own.begin(), own.end()});
  replay_.begin_anew();
  spdlog::info(
      "{} ranks resume a checkpoint of {} ranks: the replay was divided anew, this rank got {} "
      "transitions; all games start anew",
      size, num_ranks_before, replay_.size());
}

/// Makes this rank's segments from its streams in the segments of all former ranks. All former
/// ranks stored the same number of steps, so their segments cover the same steps.
void RankState::gather_streams(const checkpoint::Snapshot& snapshot, int num_ranks_before) {
  std::vector<FormerRank> former;
  std::map<std::int64_t, StreamPlace> places;
  for (int rank = 0; rank < num_ranks_before; ++rank) {
    former.push_back(read_former_rank(snapshot, rank));
    for (std::size_t i = 0; i < former.back().stream_ids.size(); ++i) {
      places[former.back().stream_ids[i]] = {.segment = former.size() - 1,
                                             .stream = static_cast<std::int64_t>(i)};
    }
  }
  std::vector<StreamPlace> own;
  for (const std::int64_t id : stream_ids_) {
    const auto found = places.find(id);
    if (found == places.end()) {
      throw CheckpointError(
          "checkpoint {}: its replay has {} streams, but not number {}; resume with as many "
          "simulations as the run that saved it (rollout.workers, rollout.envs_per_worker)",
          snapshot.source(), places.size(), id);
    }
    own.push_back(found->second);
  }
  std::size_t count = max_segments();
  for (const FormerRank& rank : former) count = std::min(count, rank.parts.size());
  replay::Replay::Segments segments;
  for (std::size_t i = 0; i < count; ++i) {
    std::vector<std::shared_ptr<replay::Segment>> from;
    for (const FormerRank& rank : former) {
      replay::SegmentShape shape = replay_.options().segment;
      shape.streams = std::ssize(rank.stream_ids);
      from.push_back(read_segment(snapshot, rank.parts[rank.parts.size() - count + i], shape));
    }
    const auto joined = join_streams(from, own, replay_.options().segment);
    if (i + 1 < count && !joined->is_full()) segments.clear();
    if (joined->is_full() || i + 1 == count) segments.push_back(joined);
  }
  replay_.restore(segments);
  spdlog::info(
      "{} ranks resume a checkpoint of {} ranks: each rank took over the replay's streams of its "
      "simulations",
      communicator_.size(), num_ranks_before);
}

}  // namespace traffic::train::offpolicy
