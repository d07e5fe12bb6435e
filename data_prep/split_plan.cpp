#include "split_plan.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <string>
#include <tuple>

#include "traffic/core/random.h"
#include "traffic/core/random_streams.h"

namespace traffic::data_prep {
namespace {

/// Disjoint sets of numbers that can be joined (union-find).
class Groups {
 public:
  explicit Groups(std::size_t n) : parent_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  std::size_t of(std::size_t i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  /// Joins two sets. The smallest number represents the joined set, so that the result does not
  /// depend on the order of the calls.
  void join(std::size_t a, std::size_t b) {
    const std::size_t root_a = of(a);
    const std::size_t root_b = of(b);
    parent_[std::max(root_a, root_b)] = std::min(root_a, root_b);
  }

 private:
  std::vector<std::size_t> parent_;
};

struct Group {
  std::vector<data::EpisodePlace> episodes;
  double frames = 0;
};

std::vector<Group> find_groups(std::span<const data::FileDigest> files) {
  std::vector<data::EpisodePlace> places;
  std::map<data::EpisodePlace, std::size_t> number;
  for (std::size_t f = 0; f < files.size(); ++f) {
    for (std::size_t e = 0; e < files[f].episodes.size(); ++e) {
      number[{f, e}] = places.size();
      places.push_back({f, e});
    }
  }
  Groups groups(places.size());
  std::map<std::tuple<std::string, std::uint64_t, double>, std::size_t> origin;
  data::FrameIndex frames;
  for (std::size_t i = 0; i < places.size(); ++i) {
    const data::FileDigest& file = files[places[i].file];
    const data::EpisodeDigest& episode = file.episodes[places[i].episode];
    const auto [entry, is_new] =
        origin.try_emplace({file.scenario, episode.seed, episode.demand_scale}, i);
    if (!is_new) groups.join(entry->second, i);
    for (const auto& [other, shared] : frames.add(places[i], episode)) {
      groups.join(number.at(other), i);
    }
  }
  std::map<std::size_t, Group> by_first;
  for (std::size_t i = 0; i < places.size(); ++i) {
    Group& group = by_first[groups.of(i)];
    group.episodes.push_back(places[i]);
    group.frames +=
        static_cast<double>(files[places[i].file].episodes[places[i].episode].frames.size());
  }
  std::vector<Group> all;
  for (auto& [first, group] : by_first) all.push_back(std::move(group));
  return all;
}

}  // namespace

std::vector<std::vector<data::Split>> plan_splits(std::span<const data::FileDigest> files,
                                                  std::span<const double> shares,
                                                  std::uint64_t seed) {
  std::vector<std::vector<data::Split>> splits;
  for (const auto& file : files) splits.emplace_back(file.episodes.size(), data::Split::kTrain);
  std::vector<Group> groups = find_groups(files);
  Rng rng(derive_seed(seed, {kGroupStream}));
  rng.shuffle(std::span(groups));
  const double all = std::accumulate(groups.begin(), groups.end(), 0.0,
                                     [](double sum, const Group& g) { return sum + g.frames; });
  std::vector<double> given(shares.size(), 0.0);
  for (const Group& group : groups) {
    std::size_t next = 0;
    double most_behind = -1e300;
    for (std::size_t s = 0; s < shares.size(); ++s) {
      // The deficit is relative to the share, so that small splits get episodes early.
      const double behind = shares[s] - given[s] / all;
      if (shares[s] > 0 && behind / shares[s] > most_behind) {
        most_behind = behind / shares[s];
        next = s;
      }
    }
    given[next] += group.frames;
    for (const auto& place : group.episodes) {
      splits[place.file][place.episode] = static_cast<data::Split>(next);
    }
  }
  return splits;
}

}  // namespace traffic::data_prep
