/// Which vehicle of a frame is which: numbers in the order of appearance. Who is missing from a
/// frame has left; the same name is another vehicle afterwards.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace traffic::data_prep {

/// @tparam State what is known of a vehicle as long as it is there
template <typename State>
class Tracker {
 public:
  struct Entry {
    std::uint32_t id = 0;
    bool fresh = true;  ///< seen for the first time
    State state{};

   private:
    friend class Tracker;
    std::uint64_t frame = 0;
  };

  void begin_frame() { ++frame_; }
  /// @return null if the frame has had a vehicle of that name
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
  /// Of this frame; null if it is not in it.
  [[nodiscard]] Entry* find(std::string_view name) {
    const auto found = entries_.find(name);
    return found != entries_.end() && found->second.frame == frame_ ? &found->second : nullptr;
  }
  /// From now on it is another vehicle, which stands where it stood.
  void renew(Entry& entry) {
    entry.id = next_id_++;
    entry.fresh = true;
    entry.state = {};
  }
  /// Forgets those that the frame did not have. @param left called with each of them
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
  /// Forgets all.
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
