/// Traffic lights: which links are green now and for how long.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace traffic::scene {

/// A change that is further away than this is not foreseen.
inline constexpr double kSignalHorizonS = 1000.0;

/// Whether a link with this letter of SUMO's state string may drive: G, g, s (right on red) and o/O
/// (switched off) may; red and yellow may not.
bool may_drive(char state);

struct SignalPhase {
  double duration_s = 0;
  std::string state;  ///< one letter a link
};

/// A light at one moment.
struct LightState {
  std::string state;                     ///< one letter a link
  double cycle_position = 0;             ///< 0..1
  std::vector<double> change_s;          ///< [links] until the link may drive, or may no longer
  std::vector<double> green_end_s = {};  ///< [links] until its green, this or the next one, ends
};

/// A fixed cycle of phases, prepared so that the state at a moment is a look-up.
class SignalProgram {
 public:
  explicit SignalProgram(std::vector<SignalPhase> phases);
  /// @param phase current phase; @param left_s seconds until it ends
  [[nodiscard]] LightState at(int phase, double left_s) const;
  [[nodiscard]] int num_phases() const { return static_cast<int>(phases_.size()); }

 private:
  [[nodiscard]] double first_after(std::size_t p, std::size_t link, bool drives) const;
  [[nodiscard]] double green_ends_after(std::size_t p, std::size_t link) const;

  std::vector<SignalPhase> phases_;
  std::vector<double> start_s_;  ///< [phases] in the cycle
  double cycle_s_ = 0;
  std::vector<std::vector<double>> after_end_s_;  ///< [phases][links] from the end of the phase
  std::vector<std::vector<double>> green_end_s_;  ///< likewise, to the end of its green
};

}  // namespace traffic::scene
