#include "traffic/rollout/traffic/light_choices.h"

namespace traffic::rollout {

void find_choices(const scene::SignalView& view, std::vector<LightChoice>& choices,
                  std::vector<float>& rows) {
  choices.clear();
  rows.clear();
  for (int light = 0; light < view.book().num_lights(); ++light) {
    if (!view.book().may_switch(light)) continue;
    choices.push_back(
        {.light = light,
         .num_greens = static_cast<std::int32_t>(view.book().plan(light).greens().size()),
         .present = view.book().present(light)});
    view.append_features(light, rows);
  }
}

}  // namespace traffic::rollout
