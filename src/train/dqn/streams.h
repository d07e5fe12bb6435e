/// Turns the fragments of episodes that a rank has collected into steps of the replay of
/// Q-learning. There is one stream of steps for each simulation of the rank and each conflict in
/// it.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "dqn/row.h"
#include "rollouts/experience.h"
#include "traffic/replay/segment.h"

namespace traffic::train::dqn {

/// Converts fragments to steps.
class FragmentStreams {
 public:
  /// @param envs simulations of this rank, ascending
  /// @param conflicts number of conflicts of each simulation
  FragmentStreams(const RowLayout& layout, std::span<const int> envs, std::int64_t conflicts);

  [[nodiscard]] std::int64_t num_streams() const { return std::ssize(envs_) * conflicts_; }
  /// Ids of this rank's streams, unique over all ranks: simulation * conflicts + conflict.
  [[nodiscard]] std::vector<std::int64_t> ids() const;

  /// Calls push() for each control step, oldest first, with the step of all streams. The action
  /// vector of a stream contains the index of the command of each place (row.h). The numbers in
  /// replay::Step::actions are unused and 0. The data of a step are valid only during the call.
  /// @param experience fragments of `steps` control steps of each simulation; global_state is
  ///   simulation * steps + step
  /// @throws Error if steps of a simulation are missing
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
  std::vector<float> rows_;             ///< [steps, streams, row width]
  std::vector<float> chosen_;           ///< [steps, streams, places] index of the command
  std::vector<float> rewards_;          ///< [steps, streams]
  std::vector<std::uint8_t> ends_;      ///< [steps, streams] replay::End
  std::vector<std::uint8_t> actions_;   ///< [streams], always 0
  std::vector<std::int64_t> place_of_;  ///< [states] step * simulations + index of the simulation
};

}  // namespace traffic::train::dqn
