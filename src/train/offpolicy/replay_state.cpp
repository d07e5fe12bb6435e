#include "offpolicy/replay_state.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "traffic/checkpoint/parts.h"
#include "traffic/core/error.h"

namespace traffic::train::offpolicy {
namespace {

constexpr const char* kNumRanks = "offpolicy/num_ranks";

std::string entry_of(const char* what, int rank) {
  return fmt::format("parts/{}-rank{}", what, rank);
}

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

/// A text of every rank into the snapshot, the same on all ranks.
void put_of_ranks(checkpoint::Snapshot& snapshot, const char* what, const std::string& own,
                  comm::Communicator& communicator) {
  const std::vector<std::string> all = communicator.gather_strings(own, 0);
  for (int rank = 0; rank < communicator.size(); ++rank) {
    const std::string text = all.empty() ? std::string() : all[static_cast<std::size_t>(rank)];
    snapshot.put_text(entry_of(what, rank), communicator.broadcast_string(text, 0));
  }
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
  const std::string of_games = checkpoint::part_name(games);
  snapshot.add_part({.name = of_games, .bytes = [games = std::move(games)] { return games; }});
  put_of_ranks(snapshot, "games", of_games, communicator_);
  put_of_ranks(snapshot, "replay", fmt::format("{}", fmt::join(in_order, " ")), communicator_);
  snapshot.put_int(kNumRanks, communicator_.size());
}

RankState::Restored RankState::restore_from(const checkpoint::Snapshot& snapshot) {
  const auto num_ranks = static_cast<int>(snapshot.integer(kNumRanks));
  known_names_.clear();
  if (num_ranks != communicator_.size()) {
    deal_out(snapshot, num_ranks);
    return {.same_ranks = false, .games = {}};
  }
  restore_own(snapshot);
  const auto games = checkpoint::parts_of(snapshot, entry_of("games", communicator_.rank()));
  if (games.size() != 1) {
    throw CheckpointError("checkpoint {}: names {} parts for the games of rank {}, expected one",
                          snapshot.source(), games.size(), communicator_.rank());
  }
  return {.same_ranks = true, .games = checkpoint::read_part(snapshot, games.front())};
}

void RankState::restore_own(const checkpoint::Snapshot& snapshot) {
  replay::Replay::Segments segments;
  for (const std::string& name :
       checkpoint::parts_of(snapshot, entry_of("replay", communicator_.rank()))) {
    segments.push_back(read_segment(snapshot, name, replay_.options().segment));
  }
  replay_.restore(segments);
}

/// Full segments of all ranks, one rank's after the other's, in equal shares.
void RankState::deal_out(const checkpoint::Snapshot& snapshot, int num_ranks_before) {
  std::vector<std::pair<std::string, bool>> all;  // and whether it is the first of its rank
  for (int rank = 0; rank < num_ranks_before; ++rank) {
    bool first = true;
    for (std::string& name : checkpoint::parts_of(snapshot, entry_of("replay", rank))) {
      all.emplace_back(std::move(name), std::exchange(first, false));
    }
  }
  const auto rank = static_cast<std::size_t>(communicator_.rank());
  const auto size = static_cast<std::size_t>(communicator_.size());
  replay::Replay::Segments own;
  for (std::size_t i = all.size() * rank / size; i < all.size() * (rank + 1) / size; ++i) {
    const auto segment = read_segment(snapshot, all[i].first, replay_.options().segment);
    if (all[i].second || own.empty()) segment->set_continues(false);
    if (segment->is_full()) own.push_back(segment);
  }
  replay_.restore(own);
  replay_.begin_anew();
  spdlog::info(
      "{} ranks go on from {}: the replay was dealt out anew, {} transitions of this rank; games "
      "begin anew",
      size, num_ranks_before, replay_.size());
}

}  // namespace traffic::train::offpolicy
