/// The scripts brisk and glide, which change how vehicles drive towards a conflict but do not stop
/// them.
#include "scripts.h"

namespace traffic::scene {
namespace {

/// Whether a vehicle is at most to_m before a conflict or, with `behind`, has just passed one.
bool is_near_conflict(const Vehicle& v, double to_m, bool behind) {
  return (v.conflict >= 0 && v.line_m <= to_m) || (behind && v.passed >= 0);
}

/// Lets vehicles near a conflict drive as fast as they may.
class Brisk final : public Script {
 public:
  Brisk(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options), to_m_(spec.get("to_m")), behind_(spec.get("behind") > 0) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    command(
        state,
        [&](const Vehicle& v) -> std::optional<Ask> {
          if (!is_near_conflict(v, to_m_, behind_)) return {};
          return Ask{Longitudinal::kFast};
        },
        commands);
  }

 private:
  double to_m_;
  bool behind_;
};

/// Makes vehicles reach a red light when it turns green. Lets other vehicles near a conflict drive
/// as fast as they may.
class Glide final : public Script {
 public:
  Glide(const config::ControllerSpec& spec, const ControllerOptions& options)
      : Script(spec, options), to_m_(spec.get("to_m")), brisk_m_(spec.get("brisk_m")) {}

  void decide(const RoadState& state, std::vector<Command>& commands) override {
    command(
        state,
        [&](const Vehicle& v) -> std::optional<Ask> {
          const bool red = own_red_left_s(state, v).has_value();
          if (red && v.line_m > to_m_) return {};  // leaves vehicles far from a red light alone
          if (!red && !is_near_conflict(v, brisk_m_, /*behind=*/true)) return {};
          return Ask{red ? Longitudinal::kArriveGreen : Longitudinal::kFast};
        },
        commands);
  }

 private:
  double to_m_;
  double brisk_m_;
};

}  // namespace

std::unique_ptr<Controller> make_driving_script(const config::ControllerSpec& spec,
                                                const ControllerOptions& options) {
  if (spec.name == "brisk") return std::make_unique<Brisk>(spec, options);
  if (spec.name == "glide") return std::make_unique<Glide>(spec, options);
  return nullptr;
}

}  // namespace traffic::scene
