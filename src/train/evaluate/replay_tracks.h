/// Packs the tracks of vehicles, that is their positions and speeds over time, into the bytes that
/// the replay page reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

namespace traffic::train {

/// A square around all positions of a recording. A coordinate is stored as a share of the side of
/// this square.
struct TrackSquare {
  double left_m = 0.0;
  double bottom_m = 0.0;
  double side_m = 1.0;
};

/// Describes a track: the samples of one vehicle in consecutive frames. A frame is the state of the
/// traffic at one time; the times of frames have equal intervals.
struct TrackHead {
  std::uint32_t vehicle = 0;  ///< id of the vehicle
  std::size_t first = 0;      ///< index of the first frame
  std::size_t frames = 0;     ///< number of frames
};

struct PackedTracks {
  std::vector<TrackHead> heads;
  std::vector<std::uint8_t> samples;  ///< five bytes for each frame of a track, track by track
};

std::string base64(const std::vector<std::uint8_t>& bytes);

/// Appends a position and a speed as five bytes.
/// @param marked whether the vehicle is under control
void append_sample(std::vector<std::uint8_t>& bytes, const TrackSquare& square, double x_m,
                   double y_m, double speed_mps, bool marked);

/// Packs the samples of all frames. A sample has the members vehicle, x_m, y_m, speed_mps and
/// commanded. A vehicle that was absent (teleporting, parked) begins a new track when it comes
/// back.
template <typename Frames>
PackedTracks pack_tracks(const Frames& frames, const TrackSquare& square) {
  PackedTracks packed;
  std::vector<std::vector<std::uint8_t>> bytes;  // the samples of each track
  std::unordered_map<std::uint32_t, std::size_t> open;
  for (std::size_t f = 0; f < frames.size(); ++f) {
    for (const auto& sample : frames[f].samples) {
      const auto found = open.find(sample.vehicle);
      const bool goes_on =
          found != open.end() &&
          packed.heads[found->second].first + packed.heads[found->second].frames == f;
      if (!goes_on) {
        open[sample.vehicle] = packed.heads.size();
        packed.heads.push_back({.vehicle = sample.vehicle, .first = f});
        bytes.emplace_back();
      }
      const std::size_t track = open[sample.vehicle];
      ++packed.heads[track].frames;
      append_sample(bytes[track], square, static_cast<double>(sample.x_m),
                    static_cast<double>(sample.y_m), static_cast<double>(sample.speed_mps),
                    sample.commanded);
    }
  }
  for (const auto& track : bytes) {
    packed.samples.insert(packed.samples.end(), track.begin(), track.end());
  }
  return packed;
}

}  // namespace traffic::train
