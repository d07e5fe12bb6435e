/// States and programs of traffic lights: which links may drive now, and for how long.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace traffic::scene {

/// Maximum of all predicted times until a light changes; it also stands for "never".
inline constexpr double kSignalHorizonS = 1000.0;

/// Whether a link with this letter in SUMO's state string may drive. G, g, s (right on red), o and
/// O (switched off) may; red and yellow may not.
bool may_drive(char state);

struct SignalPhase {
  double duration_s = 0;
  std::string state;      ///< one letter per link
  std::string name = {};  ///< the phase's number in NEMA programs
  double min_s = 0;       ///< shortest duration that the program allows
  double max_s = 0;       ///< longest duration; equal to min_s if the program fixes the duration
};

/// A light at one moment.
struct LightState {
  std::string state;          ///< one letter per link
  int phase = -1;             ///< phase of the running program; -1: not known
  double phase_left_s = 0;    ///< time until the program ends the phase
  double cycle_position = 0;  ///< elapsed share of the program's cycle, 0..1
  /// [links] time until a link that may drive has to stop, or one that has to stop may drive.
  std::vector<double> change_s;
  /// [links] time until the link's present green ends; for a red link, until its next green ends.
  std::vector<double> green_end_s = {};
};

/// A program that repeats its phases with fixed durations. Looks up the state at any moment in
/// tables.
class SignalProgram {
 public:
  explicit SignalProgram(std::vector<SignalPhase> phases);
  /// State of the light during a phase.
  /// @param left_s seconds until the phase ends
  [[nodiscard]] LightState at(int phase, double left_s) const;
  [[nodiscard]] int num_phases() const { return static_cast<int>(phases_.size()); }

 private:
  [[nodiscard]] double first_after(std::size_t p, std::size_t link, bool drives) const;
  [[nodiscard]] double green_ends_after(std::size_t p, std::size_t link) const;

  std::vector<SignalPhase> phases_;
  std::vector<double> start_s_;  ///< [phases] start within the cycle
  double cycle_s_ = 0;
  std::vector<std::vector<double>>
      after_end_s_;  ///< [phases][links] LightState::change_s at the end of the phase
  std::vector<std::vector<double>>
      green_end_s_;  ///< [phases][links] LightState::green_end_s at the end of the phase
};

}  // namespace traffic::scene
