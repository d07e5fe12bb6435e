/// Commands for traffic lights, and what each light shows until they are carried out: yellow, red
/// for all, least and greatest green.
///
///     #include "traffic/scene/road_state.h"
///
///     /// In every step, after reset(): asks each light that may switch for this green.
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
/// Whatever is commanded, no light leaves a green without yellow or before its least green is over.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "traffic/scene/signal_plan.h"

namespace traffic::scene {

/// Red between two greens is prolonged while somebody who has stood inside the junction drives out,
/// and by no more than this while all who are inside stand: they may be waiting for that green.
inline constexpr double kClearanceS = 10.0;
/// By no more than this in all.
inline constexpr double kLongestClearanceS = 30.0;

/// The green that a light is to show next; the present one: it stays.
struct SignalCommand {
  std::int32_t light = 0;  ///< index into Road::lights
  std::int32_t green = 0;  ///< index into SignalPlan::greens()
};

/// What a light is to show from the next step on.
struct SignalChange {
  int light = 0;
  std::string state;
};

class SignalBook {
 public:
  /// A new episode: every light runs its program until it is taken over.
  /// @param plans by light
  void reset(std::vector<SignalPlan> plans, const SignalLimits& limits);
  /// What is shown now. Lights that have a choice are taken over once they show one of their
  /// greens.
  void observe(double time_s, std::span<const LightState> lights);
  /// How many stand inside the light's junction, and how many have stood there and drive out: those
  /// that are to get green wait for them, so that streams do not block each other there.
  void set_inside(int light, int standing, int leaving);
  /// @throws Error for a light that may not switch, or a green that it does not have
  void add(std::span<const SignalCommand> commands);
  /// What changes with the step that begins now. A green that has lasted as long as it may is
  /// followed by the next of the program.
  /// @return valid until the next observe()
  const std::vector<SignalChange>& advance();

  [[nodiscard]] int num_lights() const { return static_cast<int>(lights_.size()); }
  [[nodiscard]] const SignalPlan& plan(int light) const;
  [[nodiscard]] const SignalLimits& limits() const { return limits_; }
  /// The green that is shown, or was before the yellow that is shown; -1: not taken over.
  [[nodiscard]] int present(int light) const;
  /// Whether a command is asked for: the light shows a green and the least time of it is over.
  [[nodiscard]] bool may_switch(int light) const;
  /// How long the present green has been shown; 0 while none is.
  [[nodiscard]] double green_s(int light) const;
  /// How long ago this green was shown last, or since the light was taken over; 0 of the present
  /// one.
  [[nodiscard]] double red_s(int light, int green) const;
  /// Changes of green so far, of all lights.
  [[nodiscard]] std::int64_t num_changes() const { return num_changes_; }

 private:
  enum class Stage : std::uint8_t { kProgram, kGreen, kYellow, kAllRed };
  struct Light {
    SignalPlan plan;
    Stage stage = Stage::kProgram;
    int present = -1;
    int next = -1;                ///< what it is on the way to, or asked for
    double since_s = 0;           ///< begin of the stage
    bool occupied = false;        ///< somebody stands inside its junction, or has stood there
    double moved_s = 0;           ///< when somebody last drove out of it
    std::vector<double> shown_s;  ///< [greens] when each was shown last
  };
  [[nodiscard]] const Light& light_at(int light) const;
  [[nodiscard]] double stage_s(const Light& light) const { return time_s_ - light.since_s; }
  void enter(Light& light, Stage stage);
  /// Whether red goes on until the junction is clear.
  [[nodiscard]] bool waits_for_clearance(const Light& light) const;
  /// The next stage, if it is due. @return whether it was
  bool walk(Light& light);
  [[nodiscard]] static std::string state_of(const Light& light);

  SignalLimits limits_;
  std::vector<Light> lights_;
  std::vector<SignalChange> changes_;
  double time_s_ = 0;
  std::int64_t num_changes_ = 0;
};

}  // namespace traffic::scene
