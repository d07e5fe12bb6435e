// clang-format off
/// SignalBook records the states of all traffic lights of a simulation and carries out commands for
/// them. A green is a phase in which some links may drive. Between two greens SignalBook inserts
/// yellow and all-red. It keeps the duration of each green between a minimum and a maximum.
///
///     #include "traffic/scene/road_state.h"
///
///     /// Call it in every step after SignalBook::reset(). It commands each light that may switch
///     /// to show wanted_green. `show` passes a change to the simulator.
///     void step(SignalBook& book, const RoadState& state, int wanted_green,
///               const std::function<void(const SignalChange&)>& show) {
///       book.observe(state.time_s(), state.lights());
///       for (int light = 0; light < book.num_lights(); ++light) {
///         const SignalCommand command{.light = light, .green = wanted_green};
///         if (book.may_switch(light)) book.add({&command, 1});
///       }
///       for (const SignalChange& change : book.advance()) show(change);
///     }
///
/// No command shortens a green below its minimum. A light whose links lose green or priority shows
/// yellow first (SignalPlan::needs_yellow). A light whose links only gain green switches at once.
// clang-format on
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/signal_plan.h"

namespace traffic::scene {

/// While vehicles are inside the junction, all-red is prolonged. If no vehicle has driven out for
/// this time (in seconds), all-red ends: the vehicles may be waiting for the next green.
inline constexpr double kClearanceS = 10.0;
/// Maximum time in seconds by which all-red is prolonged.
inline constexpr double kLongestClearanceS = 30.0;

/// How a controller acts on lights: it takes them over and chooses their greens, or the lights keep
/// their programs and the controller only sets the durations of the phases.
enum class SignalMode : std::uint8_t { kTakesOver, kKeepsPrograms };

/// A command for one light. With SignalMode::kTakesOver only `green` counts, with
/// SignalMode::kKeepsPrograms only `left_s`.
struct SignalCommand {
  std::int32_t light = 0;  ///< index into Road::lights
  std::int32_t green = 0;  ///< green to show next, index into SignalPlan::greens(); the index
                           ///< of the present green lets it continue
  float left_s = 0;  ///< time that the present phase lasts from now on; SignalBook changes it if
                     ///< the phase would become too short or too long
};

/// A light's new state, or the new remaining time of its phase. It holds from the next step on.
struct SignalChange {
  int light = 0;
  std::string state = {};  ///< new state; used only if left_s is negative
  double left_s = -1;      ///< time that the present phase still lasts; negative: `state` changes
};

/// A state that a light may show next. If a controller has taken over the light, the options are
/// all greens of the light. If the light keeps its program, the options are the present phase and
/// the next phase in which a link that is red now gets green.
struct SignalOption {
  const SignalGreen* green = nullptr;
  bool is_present = false;
  double shown_s = 0;   ///< how long the light has been showing it; 0 unless it is present
  double hidden_s = 0;  ///< time since the light showed it last; 0 if it is present
};

class SignalBook {
 public:
  /// Begins an episode. Every light runs its program until observe() takes it over.
  /// @param plans [lights]
  void reset(std::vector<SignalPlan> plans, const SignalLimits& limits,
             SignalMode mode = SignalMode::kTakesOver);
  /// Reads the present states. A light with two greens or more is taken over as soon as it shows
  /// one of its greens.
  /// @param lights [lights]
  void observe(double time_s, std::span<const LightState> lights);
  /// Sets how many vehicles stand inside the light's junction, and how many have stood there and
  /// are now driving out. All-red waits for them, so that streams do not block each other.
  void set_inside(int light, int standing, int leaving);
  /// @throws Error for a light that may not switch, or a green that it does not have; with
  /// SignalMode::kKeepsPrograms for a light whose phase is not known
  void add(std::span<const SignalCommand> commands);
  /// Advances all lights to the step that begins now. A green that has reached its maximum duration
  /// is followed by the next green of the program.
  /// @return changes that take effect with this step, valid until the next observe()
  const std::vector<SignalChange>& advance();

  [[nodiscard]] int num_lights() const { return static_cast<int>(lights_.size()); }
  [[nodiscard]] const SignalPlan& plan(int light) const;
  [[nodiscard]] const SignalLimits& limits() const { return limits_; }
  /// The green that the light shows, or showed before its present yellow; -1: not taken over.
  [[nodiscard]] int present(int light) const;
  /// Whether the light may be commanded. A light that was taken over must show a green that has
  /// reached its minimum duration. A light that keeps its program must be in a phase without a
  /// fixed duration. This phase must not have reached its maximum, and it must reach its minimum
  /// before the next command.
  /// @param next_s time until the next command can be given; matters only for kept programs
  [[nodiscard]] bool may_switch(int light, double next_s = 0.0) const;
  /// Duration of the present green so far; 0 without a green.
  [[nodiscard]] double green_s(int light) const;
  /// Time since this green was shown last, or since the light was taken over; 0 for the present
  /// green.
  [[nodiscard]] double red_s(int light, int green) const;
  /// Phase of the light's program; -1: not known, or the light has left its program.
  [[nodiscard]] int phase(int light) const;
  /// Time for which phase() has lasted so far.
  [[nodiscard]] double phase_s(int light) const;
  /// Time until phase() ends if no command is given.
  [[nodiscard]] double phase_left_s(int light) const;
  /// Shortest time that phase() must still last.
  [[nodiscard]] double shortest_left_s(int light) const {
    return time_left(light_at(light)).shortest_s;
  }
  /// Longest time that phase() may still last; 0 if it has reached its maximum, or if its duration
  /// is fixed.
  [[nodiscard]] double longest_left_s(int light) const {
    return time_left(light_at(light)).longest_s;
  }
  /// The options of a light. If lights keep their programs, the first option is the present phase;
  /// there are no options if that phase is not known or no other link ever gets green.
  [[nodiscard]] std::vector<SignalOption> options(int light) const;
  /// Number of changes to another green so far, summed over all lights. If lights keep their
  /// programs, it is the number of phases whose duration was set.
  [[nodiscard]] std::int64_t num_changes() const { return num_changes_; }

 private:
  enum class Stage : std::uint8_t { kProgram, kGreen, kYellow, kAllRed };
  struct Light {
    SignalPlan plan;
    Stage stage = Stage::kProgram;
    int present = -1;
    int next = -1;                ///< green that follows; -1: none
    double since_s = 0;           ///< start of the stage
    bool occupied = false;        ///< vehicles stand inside the junction, or have stood there
    double moved_s = 0;           ///< time at which a vehicle last drove out of the junction
    int phase = -1;               ///< phase of the program; -1: not known, or program was left
    double phase_since_s = 0;     ///< start of the phase
    double phase_left_s = 0;      ///< time until its end
    bool phase_is_set = false;    ///< a command has set its duration
    std::vector<double> shown_s;  ///< time at which each green was last shown; with a kept
                                  ///< program an element for each phase
  };
  /// Limits of the time that the phase of a kept program still lasts.
  struct TimeLeft {
    double shortest_s = 0;
    double longest_s = 0;
  };
  [[nodiscard]] TimeLeft time_left(const Light& light) const;
  [[nodiscard]] const Light& light_at(int light) const;
  [[nodiscard]] double stage_s(const Light& light) const { return time_s_ - light.since_s; }
  void enter(Light& light, Stage stage);
  /// Whether all-red continues until the junction is clear.
  [[nodiscard]] bool waits_for_clearance(const Light& light) const;
  /// Enters the next stage if it is due.
  /// @return whether it was due
  bool walk(Light& light);
  [[nodiscard]] static std::string state_of(const Light& light);

  void add_timing(const SignalCommand& command, Light& light);
  /// @param before_s time of the observation before this one
  void follow_program(const LightState& shown, double before_s, Light& light) const;

  SignalMode mode_ = SignalMode::kTakesOver;
  SignalLimits limits_;
  std::vector<Light> lights_;
  std::vector<SignalChange> changes_;
  double time_s_ = 0;
  std::int64_t num_changes_ = 0;
};

}  // namespace traffic::scene
