/// Writes and reads messages between a rank and a simulation: arrays in a shared buffer, one after
/// the other, each padded to a multiple of kUnit bytes. The reader checks every count against the
/// size of the buffer, because a broken simulation may have written anything.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "traffic/core/error.h"
#include "traffic/core/text.h"

namespace traffic::rollout {

inline constexpr std::size_t kUnit = 8;  ///< alignment of every array
constexpr std::size_t padded(std::size_t bytes) { return (bytes + kUnit - 1) / kUnit * kUnit; }

/// Appends arrays to a buffer.
class ByteWriter {
 public:
  explicit ByteWriter(std::span<std::byte> room = {}) : room_(room) {}

  /// @throws WorkerError if the array does not fit
  template <typename T>
  void put(std::span<const T> values) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kUnit);
    const std::size_t bytes = padded(values.size_bytes());
    if (bytes > room_.size() - used_) {
      throw WorkerError(
          "the observation does not fit into {}: there are more vehicles than "
          "rollout.max_vehicles, or too many traffic lights",
          human_bytes(static_cast<std::int64_t>(room_.size())));
    }
    if (!values.empty()) std::memcpy(room_.data() + used_, values.data(), values.size_bytes());
    used_ += bytes;
  }
  template <typename T>
  void put_one(const T& value) {
    put(std::span<const T>(&value, 1));
  }
  [[nodiscard]] std::size_t used() const { return used_; }
  [[nodiscard]] std::span<std::byte> room() const { return room_; }

 private:
  std::span<std::byte> room_;
  std::size_t used_ = 0;
};

/// Reads the arrays of a buffer in the order in which ByteWriter wrote them, without copying them.
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) : bytes_(bytes) {}

  /// Returns the next array.
  /// @param what name of the array in the error message
  /// @throws WorkerError if the buffer ends before the array
  template <typename T>
  std::span<const T> take(std::uint64_t count, std::string_view what) {
    if (count > bytes_.size() / sizeof(T) || padded(count * sizeof(T)) > bytes_.size()) {
      throw WorkerError(
          "the message is too short: {} should have {} entries, but only {} bytes are "
          "left",
          what, count, bytes_.size());
    }
    const auto* first = reinterpret_cast<const T*>(bytes_.data());
    bytes_ = bytes_.subspan(padded(count * sizeof(T)));
    return {first, count};
  }
  /// Reads one value and returns a copy. A view would be unsafe, because the simulation could
  /// change the value after the reader has checked it.
  template <typename T>
  T take_one(std::string_view what) {
    T value;
    std::memcpy(&value, take<T>(1, what).data(), sizeof(T));
    return value;
  }
  /// @throws WorkerError if bytes are left
  void expect_end() const {
    if (!bytes_.empty())
      throw WorkerError("the message has {} bytes after its last array", bytes_.size());
  }

 private:
  std::span<const std::byte> bytes_;
};

/// Larger values in a message are errors. No plausible quantity of traffic exceeds this limit in
/// the units used here: not the metres of a country's roads, nor the seconds of a decade.
inline constexpr double kLargest = 1e10;

/// @throws WorkerError if a value is NaN, infinite or larger than kLargest
template <typename T>
void require_plausible(std::span<const T> values, std::string_view what) {
  const auto is_plausible = [](T value) { return std::abs(value) <= static_cast<T>(kLargest); };
  bool spoiled = false;  // no early exit, so that the loop is vectorised
  for (const T value : values) spoiled |= !is_plausible(value);
  if (!spoiled) return;
  const auto first = std::find_if_not(values.begin(), values.end(), is_plausible);
  throw WorkerError(
      "the answer of a simulation contains NaN, infinity or a number beyond {:g}: {:g} at place {} "
      "of {} in {}; the simulation's process is damaged or of another version",
      kLargest, *first, first - values.begin(), values.size(), what);
}

}  // namespace traffic::rollout
