/// LightChooser finds, at every decision, which traffic lights may choose something and what their
/// options are. It translates the policy's choices into commands to the simulation.
///
/// The options depend on the key `lights.advisor`. With `greedy`, the policy replaces the lights'
/// own programs (their planned phase sequences) and chooses one of the greens of a light. With
/// `program`, or with a script that keeps the programs, the policy has two options: the present
/// phase lasts until the next decision (option 0) or ends before it (option 1). The feature
/// `advised` marks the option that the program or the script would take. A policy that always takes
/// the option of the program gives no commands at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "traffic/scene/controller.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout {

/// A light that must choose one of its options (scene::SignalBook::options).
struct LightChoice {
  std::int32_t light = 0;       ///< index among the lights of the network
  std::int32_t num_greens = 0;  ///< number of options, each with one row of features; the rows of
                                ///< all choices are stored in sequence
  std::int32_t present = 0;     ///< the option that the light shows now
};

/// Used by the agent `lights` within a simulation.
class LightChooser {
 public:
  /// @param advisor value of lights.advisor
  /// @param options options.period_s is the time between two decisions
  /// @throws ConfigError if there is no such advisor
  LightChooser(std::string_view advisor, const scene::ControllerOptions& options);

  [[nodiscard]] scene::SignalMode mode() const { return mode_; }
  /// Called at the start of every episode.
  void reset(std::uint64_t seed);
  /// Finds the lights that may switch now. Writes them to `choices` and the features of their
  /// options to `rows`.
  /// @param rows [sum of num_greens, scene::signal_features()]
  void find(const scene::SignalView& view, std::vector<LightChoice>& choices,
            std::vector<float>& rows);
  /// Finds the lights that have at least two options but may not switch now. No option is marked as
  /// advised, because nothing can be chosen.
  /// @param idle overwritten; LightChoice::present is -1 if the light shows none of its options
  /// @param rows overwritten with the features of their options
  void find_idle(const scene::SignalView& view, std::vector<LightChoice>& idle,
                 std::vector<float>& rows) const;
  /// Translates choices into commands.
  /// @param chosen the option chosen for each light that find() has listed; SignalCommand::green is
  /// the index of the option
  /// @param view unchanged since find()
  /// @return valid until the next call
  std::span<const scene::SignalCommand> commands(const scene::SignalView& view,
                                                 std::span<const scene::SignalCommand> chosen);

 private:
  void advise(const scene::SignalView& view);
  /// Whether the present phase lasts until the next decision if no command is given.
  [[nodiscard]] bool lasts(const scene::SignalBook& book, int light) const;

  scene::SignalMode mode_;
  double period_s_;                             ///< time between two decisions
  std::unique_ptr<scene::Controller> advisor_;  ///< null if lights.advisor is `program` or `greedy`
  std::vector<std::size_t> advised_;            ///< [lights] the advised option, 0 or 1
  std::vector<scene::SignalCommand> commands_;
};

}  // namespace traffic::rollout
