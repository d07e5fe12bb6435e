/// The choices that a policy of traffic lights has in a simulation, and their translation into
/// commands.
///
/// `lights.advisor` says how the policy acts. With `greedy` it takes the lights over and chooses
/// one of their greens. With `program` or a script that keeps the programs, it chooses for each
/// light whether the present phase lasts until the next decision (option 0) or ends before it
/// (option 1). The feature `advised` marks the option that the program or the script would take. A
/// policy that always takes the option of the program gives no commands at all.
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
  std::int32_t num_greens = 0;  ///< feature rows of this choice; they follow the previous choice's
  std::int32_t present = 0;     ///< the option that the light shows now
};

class LightChooser {
 public:
  /// @param advisor lights.advisor
  /// @param options options.period_s is the time between two decisions
  /// @throws ConfigError if there is no such advisor
  LightChooser(std::string_view advisor, const scene::ControllerOptions& options);

  [[nodiscard]] scene::SignalMode mode() const { return mode_; }
  /// Called at the start of every episode.
  void reset(std::uint64_t seed);
  /// Replaces `choices` and `rows` by the lights that may switch now and the features of their
  /// options.
  /// @param rows [sum of num_greens, scene::signal_features()]
  void find(const scene::SignalView& view, std::vector<LightChoice>& choices,
            std::vector<float>& rows);
  /// Translates choices into commands.
  /// @param chosen options of lights that find() has listed, as SignalCommand::green
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
  std::unique_ptr<scene::Controller> advisor_;  ///< null: the programs themselves, or no advice
  std::vector<std::size_t> advised_;            ///< [lights] option
  std::vector<scene::SignalCommand> commands_;
};

}  // namespace traffic::rollout
