// StepPace: measures the mean duration of the last steps. A stall counts only in part.
#include "traffic/report/step_pace.h"

#include <algorithm>
#include <cstddef>
#include <vector>

namespace traffic::report {
namespace {

constexpr std::size_t kPieces = 64;  ///< the mean is computed over this number of the newest pieces
/// A piece contains consecutive steps that together take at least this long.
constexpr double kPieceSeconds = 1.0;
constexpr double kMostOfMedian = 10.0;  ///< a longer piece (a stall) counts as this many medians

}  // namespace

void StepPace::add(std::int64_t steps, double seconds) {
  const bool complete =
      !pieces_.empty() && pieces_.back().steps > 0.0 && pieces_.back().seconds >= kPieceSeconds;
  if (pieces_.empty() || complete) pieces_.emplace_back();
  pieces_.back().steps += static_cast<double>(steps);
  pieces_.back().seconds += seconds;
  if (pieces_.size() > kPieces) pieces_.pop_front();
}

double StepPace::seconds_per_step() const {
  std::vector<double> of_pieces;
  for (const Piece& piece : pieces_) {
    if (piece.steps > 0.0) of_pieces.push_back(piece.seconds / piece.steps);
  }
  if (of_pieces.empty()) return 0.0;
  // If the number of pieces is even, takes the lower of the two middle values, because the higher
  // one may come from a stall.
  const auto median = of_pieces.begin() + static_cast<std::ptrdiff_t>((of_pieces.size() - 1) / 2);
  std::nth_element(of_pieces.begin(), median, of_pieces.end());
  double steps = 0.0;
  double seconds = 0.0;
  for (const Piece& piece : pieces_) {
    steps += piece.steps;
    seconds += std::min(piece.seconds, kMostOfMedian * *median * std::max(1.0, piece.steps));
  }
  return seconds / steps;
}

}  // namespace traffic::report
