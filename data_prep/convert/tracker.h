/// Numbers the vehicles of a recording in the order of their appearance. A vehicle that is missing
/// from a frame has left; if its name comes back, it is another vehicle.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traffic::data_prep {

/// @tparam State the caller's data of a vehicle, kept until the vehicle leaves
template <typename State>
class Tracker {
 public:
  struct Entry {
    std::uint32_t id = 0;
    bool fresh = true;  ///< the current frame is the vehicle's first
    State state{};

   private:
    friend class Tracker;
    std::uint64_t frame = 0;
  };

  void begin_frame() { ++frame_; }
  /// Notes that the frame has a vehicle of this name. @return null if the frame already has such a
  /// vehicle
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
  /// The entry of a vehicle that the current frame has; null if it does not have it.
  [[nodiscard]] Entry* find(std::string_view name) {
    const auto found = entries_.find(name);
    return found != entries_.end() && found->second.frame == frame_ ? &found->second : nullptr;
  }
  /// Turns the entry into another vehicle, which appears in the current frame.
  void renew(Entry& entry) {
    entry.id = next_id_++;
    entry.fresh = true;
    entry.state = {};
  }
  /// Forgets the vehicles that the frame did not have. @param left called with each of them
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
  /// Forgets all vehicles. @param left called with each of them
  template <typename Left>
  void clear(Left left) {
    for (auto& item : entries_) left(item.second);
    entries_.clear();
  }
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
