#include "evaluate/replay_tracks.h"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace traffic::train {
namespace {

/// Appends a coordinate as two bytes (little-endian): its share of the side of the square, from 0
/// to 1, times 65535.
void append_place(std::vector<std::uint8_t>& bytes, double metres, double side_m) {
  const double share = std::clamp(metres / side_m, 0.0, 1.0);
  const auto value = static_cast<std::uint16_t>(std::lround(share * 65535.0));
  bytes.push_back(static_cast<std::uint8_t>(value & 255U));
  bytes.push_back(static_cast<std::uint8_t>(value >> 8U));
}

/// A byte whose lower seven bits are the speed in units of 0.5 m/s. Its highest bit is set if the
/// vehicle is under control.
std::uint8_t speed_and_control(double speed_mps, bool marked) {
  const long halves = std::clamp(std::lround(2.0 * speed_mps), 0L, 127L);
  return static_cast<std::uint8_t>(halves | (marked ? 128 : 0));
}

}  // namespace

std::string base64(const std::vector<std::uint8_t>& bytes) {
  constexpr std::string_view kDigits =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t left = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t group = 0;
    for (std::size_t b = 0; b < 3; ++b) group = group << 8 | (b < left ? bytes[i + b] : 0U);
    for (std::size_t d = 0; d < 4; ++d) {
      text += d <= left ? kDigits[group >> (18 - 6 * d) & 63U] : '=';
    }
  }
  return text;
}

void append_sample(std::vector<std::uint8_t>& bytes, const TrackSquare& square, double x_m,
                   double y_m, double speed_mps, bool marked) {
  append_place(bytes, x_m - square.left_m, square.side_m);
  append_place(bytes, y_m - square.bottom_m, square.side_m);
  bytes.push_back(speed_and_control(speed_mps, marked));
}

}  // namespace traffic::train
