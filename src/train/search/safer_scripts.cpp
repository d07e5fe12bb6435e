#include "search/safer_scripts.h"

#include <algorithm>
#include <cmath>

namespace traffic::train {
namespace {

using config::ControllerSpec;

bool has(const ControllerSpec& script, std::string_view parameter) {
  return script.get_or(parameter, -1.0) >= 0.0;
}

/// A script with one parameter changed; the script itself if it has no such parameter.
ControllerSpec with(ControllerSpec script, const char* parameter, double value) {
  if (has(script, parameter)) script.values[parameter] = value;
  return script;
}

/// A version that begins earlier and twice as far away, so that vehicles reach the same speed with
/// gentler braking.
ControllerSpec earlier(const ControllerSpec& script) {
  ControllerSpec changed = script;
  if (has(script, "lead_s")) changed.values["lead_s"] = script.get("lead_s") + 10.0;
  return with(changed, "to_m", 2.0 * script.get_or("to_m", 0.0));
}

/// A version that slows vehicles down less. If the script stops vehicles, the version only slows
/// them down.
ControllerSpec faster(const ControllerSpec& script) {
  constexpr double kInsteadOfStopping_mps = 4.0;
  const double speed_mps = script.get_or("speed_mps", 0.0);
  return with(script, "speed_mps", speed_mps > 0 ? 1.5 * speed_mps : kInsteadOfStopping_mps);
}

/// A version that acts only in denser traffic or at longer queues.
ControllerSpec denser(const ControllerSpec& script) {
  const ControllerSpec changed = with(script, "density", script.get_or("density", 0.0) + 10.0);
  return with(changed, "queue", 1.5 * script.get_or("queue", 0.0));
}

/// A version that commands fewer vehicles at once: only this part of their maximum number.
ControllerSpec fewer(const ControllerSpec& script, double part) {
  const double top = script.get("top");
  // Assumed limit if `top` is 0; the actual limit is then vehicles.top_k, which is unknown here.
  constexpr double kUnsaid = 10.0;
  return with(script, "top", std::max(1.0, std::floor(part * (top > 0 ? top : kUnsaid))));
}

}  // namespace

std::vector<std::string> safer_scripts(const ControllerSpec& script) {
  if (config::sets_signals(script.name)) return {};
  const ControllerSpec gentle = with(script, "brake_mps2", 1.0);
  const std::vector<ControllerSpec> all{gentle,
                                        earlier(gentle),
                                        fewer(script, 0.5),
                                        faster(script),
                                        denser(script),
                                        fewer(gentle, 0.5),
                                        fewer(script, 0.25),
                                        earlier(with(script, "brake_mps2", 0.5)),
                                        fewer(earlier(gentle), 0.25)};
  std::vector<std::string> texts;
  for (const ControllerSpec& one : all) {
    const std::string text = one.text();
    if (text != script.text() && std::ranges::find(texts, text) == texts.end()) {
      texts.push_back(text);
    }
  }
  return texts;
}

}  // namespace traffic::train
