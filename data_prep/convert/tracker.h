/// Tracker follows the vehicles of a recording from frame to frame by their names. It numbers them
/// in the order of their appearance. A vehicle that is missing from a frame has left. If its name
/// appears again later, it counts as a new vehicle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traffic::data_prep {

/// @tparam State the caller's data about a vehicle, which are kept until the vehicle leaves
template <typename State>
class Tracker {
 public:
  struct Entry {
    std::uint32_t id = 0;
    bool fresh = true;  ///< whether the current frame is the vehicle's first
    State state{};

   private:
    friend class Tracker;
    std::uint64_t frame = 0;
  };

  void begin_frame() { ++frame_; }
  /// Records that the current frame has a vehicle with this name.
  /// @return the vehicle; null if the frame already has a vehicle with this name
  Entry* see(std::string_view name) {
    auto found = entries_.find(name);
    if (found == entries_.end()) {
      found = entries_.emplace(std::string(name), Entry{}).first;
      found->second.id = next_id_++;
    } else if (found->second.frame == frame_) {
      return nullptr;
    } else {
      found->second.fresh = false;
    }
    found->second.frame = frame_;
    ++seen_;
    return &found->second;
  }
  /// The vehicle with this name in the current frame; null if the frame does not have it.
  [[nodiscard]] Entry* find(std::string_view name) {
    const auto found = entries_.find(name);
    return found != entries_.end() && found->second.frame == frame_ ? &found->second : nullptr;
  }
  /// Lets the entry count as a new vehicle from the current frame on, for example because the
  /// vehicle has jumped: it gets a new number and an empty state, and `fresh` is true.
  void renew(Entry& entry) {
    entry.id = next_id_++;
    entry.fresh = true;
    entry.state = {};
  }
  /// Removes the vehicles that the current frame does not have.
  /// @param left called with each removed vehicle
  template <typename Left>
  void end_frame(Left left) {
    if (seen_ < entries_.size()) {
      std::erase_if(entries_, [&](auto& item) {
        if (item.second.frame == frame_) return false;
        left(item.second);
        return true;
      });
    }
    seen_ = 0;
  }
  /// Removes all vehicles.
  /// @param left called with each removed vehicle
  template <typename Left>
  void clear(Left left) {
    for (auto& item : entries_) left(item.second);
    entries_.clear();
  }
  /// Number of distinct vehicles so far.
  [[nodiscard]] std::uint32_t num_seen() const { return next_id_; }

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };

  std::unordered_map<std::string, Entry, Hash, std::equal_to<>> entries_;
  std::uint64_t frame_ = 0;
  std::size_t seen_ = 0;
  std::uint32_t next_id_ = 0;
};

}  // namespace traffic::data_prep
