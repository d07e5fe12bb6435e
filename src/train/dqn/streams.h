/// What the simulations of a rank lived through in a fragment, as steps of the replay: a stream for
/// each of its simulations and each conflict, whatever part in it other simulations had.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dqn/row.h"
#include "rollouts/experience.h"
#include "traffic/replay/segment.h"

namespace traffic::train::dqn {

class FragmentStreams {
 public:
  /// @param envs of this rank, ascending
  FragmentStreams(const RowLayout& layout, std::span<const int> envs, std::int64_t conflicts);

  [[nodiscard]] std::int64_t num_streams() const { return std::ssize(envs_) * conflicts_; }
  /// Of the streams of all ranks: simulation * conflicts + conflict.
  [[nodiscard]] std::vector<std::int64_t> ids() const;

  /// Hands the steps over one by one, oldest first, in the order of the streams. What was decided
  /// is in the action vectors, by place; the actions' own numbers are not used.
  /// @param experience of fragments of `steps` control steps of each simulation: its states are
  ///     numbered simulation * steps + step
  /// @throws Error if a simulation's steps are missing
  void for_each(const Experience& experience, std::int64_t steps,
                const std::function<void(const replay::Step&)>& push);

 private:
  [[nodiscard]] std::size_t row_of(std::int64_t step, std::size_t stream) const {
    return static_cast<std::size_t>(step) * static_cast<std::size_t>(num_streams()) + stream;
  }
  void write_states(const Experience& experience);
  void note_ends(const Experience& experience);

  RowLayout layout_;
  std::vector<int> envs_;
  std::int64_t conflicts_;
  std::int64_t steps_ = 0;
  // [steps, streams] and numbers of each
  std::vector<float> rows_;
  std::vector<float> chosen_;
  std::vector<float> rewards_;
  std::vector<std::uint8_t> ends_;
  std::vector<std::uint8_t> actions_;   ///< [streams], zero
  std::vector<std::int64_t> place_of_;  ///< of each state of the experience: step * envs + env
};

}  // namespace traffic::train::dqn
