/// Writes the networks of trained policies down as plain operations. Their inputs are features in
/// physical units: the scaling is part of the networks. The networks that estimate values are left
/// out, because decisions do not need them.
#pragma once

#include "export/plain_network.h"
#include "policy/light_policy.h"
#include "policy/policy.h"
#include "traffic/comm/flat_arena.h"
#include "traffic/config/config.h"

namespace traffic::train {

/// The network of a policy for vehicles. N vehicles, M candidates, E pairs of neighbours.
///
/// Inputs: `vehicles` [N, F]; `candidates` [M], indices of vehicles; then, if the policy needs
/// them: `globals` [1, G]; `advised` [M], index of the command that the advisor gives;
/// `edge_source`, `edge_target` [E], indices of vehicles; `edge_features` [E, 4]; `connected` [V],
/// indices of the connected vehicles; `memory` [V, H] of these vehicles (memory_network()), and
/// `place` [M], index of each candidate among them.
/// Outputs: `score` [M]; `command` [M, C], logits or values of the commands, or for continuous
/// commands [M, 1], the mean before bounding; `lane` [M, 3], logits of right, keep and left.
/// @param parameters those of the policy and of its perception
/// @param advice_margin added to the values of advised commands (Policy::lean_on_advice)
PlainNetwork vehicle_network(const config::Config& config, const comm::NamedTensors& parameters,
                             double advice_margin);

/// The network that remembers the connected vehicles for a policy that reads latents. It is run for
/// every frame of a control period, oldest first.
///
/// Inputs: `vehicles` [N, F]; `connected` [V], `edge_source`, `edge_target`, `edge_features` as
/// above; `hidden`, `cell` [V, layers * H], the outputs of the frame before for the same vehicles,
/// zero for those that have just appeared.
/// Outputs: `next_hidden`, `next_cell` [V, layers * H]; the last H columns of `next_hidden` are the
/// input `memory` of vehicle_network().
PlainNetwork memory_network(const config::Config& config, const comm::NamedTensors& parameters);

/// The network of a policy for traffic lights. R options of L lights, light by light; E pairs of
/// neighbouring lights.
///
/// Inputs: `options` [R, F]; `light` [R], the light of each option; `lights` [1], the number L;
/// and with an encoder `edge_source`, `edge_target` [E], indices of lights; `edge_features` [E, 4].
/// Output: `probability` [R] of each option among those of its light.
PlainNetwork light_network(const LightPolicy& policy);

}  // namespace traffic::train
