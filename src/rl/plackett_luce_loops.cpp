// Log-probability and entropy of PlackettLuce by plain loops on the CPU (plackett_luce_terms.h).
#include <ATen/Dispatch.h>

#include <algorithm>
#include <cmath>

#include "noise.h"
#include "plackett_luce_terms.h"

namespace traffic::rl {
namespace {

/// The candidates of one state.
template <typename T>
struct Candidates {
  const T* score;  ///< [count] logarithms of the candidates' weights
  std::int64_t count;
};

/// Logarithm of the sum of exp(score) over the candidates for which `counts` is true; kLogZero if
/// it is true for none. A NaN makes the sum NaN.
template <typename T, typename Counts>
double log_sum_exp(const Candidates<T>& of, const Counts& counts) {
  double highest = kLogZero;
  for (std::int64_t i = 0; i < of.count; ++i) {
    if (counts(i)) highest = std::max(highest, static_cast<double>(of.score[i]));
  }
  double sum = 0.0;
  for (std::int64_t i = 0; i < of.count; ++i) {
    if (counts(i)) sum += std::exp(static_cast<double>(of.score[i]) - highest);
  }
  return sum == 0.0 ? kLogZero : highest + std::log(sum);
}

double log_add_exp(double a, double b) {
  const double higher = std::max(a, b);
  return higher + std::log1p(std::exp(std::min(a, b) - higher));
}

/// The picks of a state in order.
struct Draws {
  std::vector<std::int64_t> place;    ///< [picks] index of the picked candidate
  std::vector<double> log_left;       ///< [picks] log of the sum of exp(score) over the candidates
                                      ///< that remain before the pick
  std::vector<std::int64_t> gone_by;  ///< [candidates] index of the pick that removed the
                                      ///< candidate; the number of picks if it remains
};

template <typename T>
double log_prob_of(const Candidates<T>& of, const std::int64_t* picks, std::int64_t top_k,
                   Draws& draws, T* slope) {
  draws.place.clear();
  draws.gone_by.assign(static_cast<std::size_t>(of.count), 0);
  for (std::int64_t k = 0; k < top_k; ++k) {
    if (picks[k] >= 0) draws.place.push_back(picks[k]);
  }
  const auto drawn = static_cast<std::int64_t>(draws.place.size());
  std::fill(draws.gone_by.begin(), draws.gone_by.end(), drawn);
  for (std::int64_t k = 0; k < drawn; ++k) {
    draws.gone_by[static_cast<std::size_t>(draws.place[static_cast<std::size_t>(k)])] = k;
  }
  const auto gone_by = [&](std::int64_t i) { return draws.gone_by[static_cast<std::size_t>(i)]; };
  // Sums from the last pick to the first instead of subtracting from the total. A difference would
  // lose all digits if the first picks hold nearly all of the probability.
  double left = log_sum_exp(of, [&](std::int64_t i) { return gone_by(i) == drawn; });
  draws.log_left.assign(static_cast<std::size_t>(drawn), 0.0);
  double log_prob = 0.0;
  for (std::int64_t k = drawn; k-- > 0;) {
    const auto score = static_cast<double>(of.score[draws.place[static_cast<std::size_t>(k)]]);
    left = log_add_exp(left, score);
    draws.log_left[static_cast<std::size_t>(k)] = left;
    log_prob += score - left;
  }
  // Derivative with respect to the score of candidate i: 1 if it was picked, else 0, minus the sum
  // of its probabilities at the picks for which it was available.
  for (std::int64_t i = 0; i < of.count; ++i) {
    double derivative = gone_by(i) < drawn ? 1.0 : 0.0;
    const std::int64_t last = std::min(gone_by(i), drawn - 1);
    for (std::int64_t k = 0; k <= last; ++k) {
      derivative -=
          std::exp(static_cast<double>(of.score[i]) - draws.log_left[static_cast<std::size_t>(k)]);
    }
    slope[i] = static_cast<T>(derivative);
  }
  return log_prob;
}

template <typename T>
double entropy_of(const Candidates<T>& of, T* slope) {
  const double log_sum = log_sum_exp(of, [](std::int64_t /*i*/) { return true; });
  const auto log_prob = [&](std::int64_t i) { return static_cast<double>(of.score[i]) - log_sum; };
  double entropy = 0.0;
  for (std::int64_t i = 0; i < of.count; ++i) {
    entropy -= std::exp(log_prob(i)) * log_prob(i);
  }
  for (std::int64_t i = 0; i < of.count; ++i) {
    slope[i] = static_cast<T>(-std::exp(log_prob(i)) * (log_prob(i) + entropy));
  }
  return entropy;
}

/// Computes a value, and its derivatives with respect to the scores, for each state.
/// @param work called with (candidates, state, slopes); writes the derivatives to the slopes and
///   returns the state's value
template <typename T, typename Work>
SelectionTerm of_each_state(const torch::Tensor& scores, const Segments& segments,
                            const Work& work) {
  const torch::Tensor score = scores.contiguous();
  const auto* ptr = segments.ptr().const_data_ptr<std::int64_t>();
  SelectionTerm out{torch::empty({segments.count()}, score.options()), torch::empty_like(score)};
  for (std::int64_t b = 0; b < segments.count(); ++b) {
    const Candidates<T> of{score.const_data_ptr<T>() + ptr[b], ptr[b + 1] - ptr[b]};
    out.value.mutable_data_ptr<T>()[b] =
        static_cast<T>(work(of, b, out.slope.mutable_data_ptr<T>() + ptr[b]));
  }
  return out;
}

}  // namespace

SelectionTerm selection_log_prob_in_loops(const torch::Tensor& scores, const Segments& segments,
                                          const torch::Tensor& picks) {
  const torch::Tensor places = picks.contiguous();
  const std::int64_t top_k = places.size(1);
  Draws draws;
  return AT_DISPATCH_FLOATING_TYPES(scores.scalar_type(), "selection_log_prob", [&] {
    return of_each_state<scalar_t>(
        scores, segments, [&](const Candidates<scalar_t>& of, std::int64_t b, scalar_t* slope) {
          return log_prob_of(of, places.const_data_ptr<std::int64_t>() + b * top_k, top_k, draws,
                             slope);
        });
  });
}

SelectionTerm selection_entropy_in_loops(const torch::Tensor& scores, const Segments& segments) {
  return AT_DISPATCH_FLOATING_TYPES(scores.scalar_type(), "selection_entropy", [&] {
    return of_each_state<scalar_t>(
        scores, segments, [](const Candidates<scalar_t>& of, std::int64_t /*b*/, scalar_t* slope) {
          return entropy_of(of, slope);
        });
  });
}

}  // namespace traffic::rl
