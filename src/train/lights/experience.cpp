#include "lights/experience.h"

#include <algorithm>

#include "traffic/rl/gae.h"
#include "traffic/scene/signal_view.h"

namespace traffic::train::lights {
namespace {

/// Number of a light's decisions from which the policy learns: all but the last one, because the
/// reward of the last decision is incomplete.
std::int64_t num_learned(const LightHistory& light) {
  return std::max<std::int64_t>(0, static_cast<std::int64_t>(light.chosen.size()) - 1);
}

/// The histories of L lights as columns, padded to the length T of the longest one: [T, L]. `ends`
/// is true at the last learned decision of each light.
struct Padded {
  torch::Tensor rewards, values, next_values, ends, periods;
};

Padded pad(const std::vector<const LightHistory*>& lights, const rl::RunningMeanStd& scale) {
  std::int64_t longest = 1;
  for (const LightHistory* light : lights) longest = std::max(longest, num_learned(*light));
  const auto count = static_cast<std::int64_t>(lights.size());
  Padded out{.rewards = torch::zeros({longest, count}),
             .values = torch::zeros({longest, count}),
             .next_values = torch::zeros({longest, count}),
             .ends = torch::zeros({longest, count}, torch::kBool),
             .periods = torch::ones({longest, count}, torch::kLong)};
  for (std::int64_t l = 0; l < count; ++l) {
    const LightHistory& light = *lights[static_cast<std::size_t>(l)];
    const std::int64_t n = num_learned(light);
    if (n == 0) continue;
    const torch::Tensor values = scale.restore(torch::tensor(light.value));
    out.rewards.select(1, l).narrow(0, 0, n).copy_(torch::tensor(light.reward).narrow(0, 0, n));
    out.values.select(1, l).narrow(0, 0, n).copy_(values.narrow(0, 0, n));
    out.next_values.select(1, l).narrow(0, 0, n).copy_(values.narrow(0, 1, n));
    out.ends.select(1, l)[n - 1] = true;
    out.periods.select(1, l).narrow(0, 0, n).copy_(torch::tensor(light.periods).narrow(0, 0, n));
  }
  return out;
}

/// Concatenates the columns without their padding.
torch::Tensor unpad(const torch::Tensor& padded, const std::vector<const LightHistory*>& lights) {
  std::vector<torch::Tensor> parts{torch::zeros({0}, padded.options())};
  for (std::size_t l = 0; l < lights.size(); ++l) {
    parts.push_back(
        padded.select(1, static_cast<std::int64_t>(l)).narrow(0, 0, num_learned(*lights[l])));
  }
  return torch::cat(parts);
}

/// Fills in `batch`, `chosen` and `log_prob`.
void add_observations(const std::vector<const LightHistory*>& lights, Experience& experience) {
  const std::size_t columns = scene::signal_features().size();
  std::vector<float> rows;
  std::vector<rollout::LightChoice> choices;
  std::vector<std::int64_t> chosen;
  std::vector<float> log_prob;
  std::int64_t row = 0;
  for (const LightHistory* light : lights) {
    const auto n = static_cast<std::size_t>(num_learned(*light));
    std::size_t taken = 0;
    for (std::size_t i = 0; i < n; ++i) {
      choices.push_back({.num_greens = light->greens[i], .present = light->present[i]});
      chosen.push_back(row + light->chosen[i]);
      row += light->greens[i];
      taken += static_cast<std::size_t>(light->greens[i]) * columns;
    }
    rows.insert(rows.end(), light->rows.begin(),
                light->rows.begin() + static_cast<std::ptrdiff_t>(taken));
    log_prob.insert(log_prob.end(), light->log_prob.begin(),
                    light->log_prob.begin() + static_cast<std::ptrdiff_t>(n));
  }
  experience.batch = light_batch(choices, rows);
  experience.chosen = torch::tensor(chosen, torch::kLong);
  experience.log_prob = torch::tensor(log_prob);
}

/// Index of the light history that each decision belongs to.
torch::Tensor number_lights(const std::vector<const LightHistory*>& lights) {
  std::vector<torch::Tensor> parts{torch::zeros({0}, torch::kLong)};
  for (std::size_t l = 0; l < lights.size(); ++l) {
    parts.push_back(torch::full({num_learned(*lights[l])}, static_cast<std::int64_t>(l)));
  }
  return torch::cat(parts);
}

/// Fills in `moments`, and the moment and node of each decision.
void add_moments(const std::vector<EpisodeHistory>& episodes, Experience& experience) {
  std::vector<std::int64_t> moment;
  std::vector<std::int64_t> node;
  for (const EpisodeHistory& episode : episodes) {
    const auto first = static_cast<std::int64_t>(experience.moments.size());
    for (const scene::SignalGraph& graph : episode.moments) {
      experience.moments.push_back(graph.view());
    }
    if (episode.moments.empty()) continue;
    for (std::size_t l = 0; l < episode.lights.size(); ++l) {
      const LightHistory& light = episode.lights[l];
      for (std::int64_t i = 0; i < num_learned(light); ++i) {
        moment.push_back(first + light.moment[static_cast<std::size_t>(i)]);
        node.push_back(static_cast<std::int64_t>(l));
      }
    }
  }
  experience.moment = torch::tensor(moment, torch::kLong);
  experience.node = torch::tensor(node, torch::kLong);
}

/// Number of states of an episode; Experience says what a state is.
std::int64_t num_states(const EpisodeHistory& episode) {
  if (!episode.moments.empty()) return static_cast<std::int64_t>(episode.moments.size());
  std::int64_t decisions = 0;
  for (const LightHistory& light : episode.lights) decisions += num_learned(light);
  return decisions;
}

/// Fills in `by_state` and `states`.
void find_states(Experience& experience) {
  const std::int64_t decisions = experience.chosen.size(0);
  if (experience.moments.empty()) {
    experience.by_state = torch::arange(decisions);
    experience.states = rl::Segments(torch::arange(decisions + 1));
    return;
  }
  experience.by_state = torch::argsort(experience.moment, /*stable=*/true, 0, false);
  const torch::Tensor sizes =
      torch::bincount(experience.moment, {}, static_cast<std::int64_t>(experience.moments.size()));
  experience.states = rl::Segments(torch::cat({torch::zeros({1}, torch::kLong), sizes.cumsum(0)}));
}

/// Numbers the states of all ranks in the order of the episodes. Counts states and decisions.
/// Collective.
void number_states(const std::vector<EpisodeHistory>& episodes, std::int64_t num_episodes,
                   comm::Communicator& communicator, Experience& experience) {
  // Number of states of each episode; the last entry is the number of decisions.
  torch::Tensor counts = torch::zeros({num_episodes + 1}, torch::kLong);
  for (const EpisodeHistory& episode : episodes) counts[episode.order] = num_states(episode);
  counts[num_episodes] = experience.chosen.size(0);
  communicator.all_reduce(counts);
  experience.total = counts[num_episodes].item<std::int64_t>();
  counts = counts.narrow(0, 0, num_episodes);
  const torch::Tensor first = counts.cumsum(0) - counts;
  std::vector<torch::Tensor> places{torch::zeros({0}, torch::kLong)};
  for (const EpisodeHistory& episode : episodes) {
    places.push_back(torch::arange(counts[episode.order].item<std::int64_t>()) +
                     first[episode.order]);
  }
  experience.global_state = torch::cat(places);
  experience.total_states = counts.sum().item<std::int64_t>();
}

}  // namespace

Experience pack(const std::vector<EpisodeHistory>& episodes, std::int64_t num_episodes,
                const rl::RunningMeanStd& scale, const Horizon& horizon,
                comm::Communicator& communicator) {
  std::vector<const LightHistory*> lights;
  for (const EpisodeHistory& episode : episodes) {
    for (const LightHistory& light : episode.lights) lights.push_back(&light);
  }
  Experience experience{.batch = light_batch({}, {})};
  add_observations(lights, experience);
  add_moments(episodes, experience);
  find_states(experience);
  const Padded padded = pad(lights, scale);
  const torch::Tensor advantages = rl::gae({.rewards = padded.rewards,
                                            .values = padded.values,
                                            .next_values = padded.next_values,
                                            .terminated = torch::zeros_like(padded.ends),
                                            .truncated = padded.ends,
                                            .periods = padded.periods},
                                           horizon.gamma, horizon.gae_lambda);
  experience.advantages = unpad(advantages, lights);
  experience.values = unpad(padded.values, lights);
  experience.returns = experience.advantages + experience.values;
  experience.light = number_lights(lights);
  number_states(episodes, num_episodes, communicator, experience);
  return experience;
}

Taken take(const Experience& experience, const torch::Tensor& decisions) {
  const rl::SegmentSubset part = rl::select_segments(experience.batch.lights, decisions);
  const auto of_decisions = [&](const torch::Tensor& x) { return x.index_select(0, decisions); };
  // The rows of a decision stay together and in order, so its row indices shift by as much as its
  // first row.
  const torch::Tensor shift =
      part.segments.starts() - of_decisions(experience.batch.lights.starts());
  Taken taken{.batch = {.rows = experience.batch.rows.index_select(0, part.rows),
                        .present = of_decisions(experience.batch.present) + shift,
                        .lights = part.segments},
              .chosen = of_decisions(experience.chosen) + shift};
  if (experience.moments.empty()) return taken;
  const torch::Tensor moment = of_decisions(experience.moment);
  const auto* at = moment.const_data_ptr<std::int64_t>();
  std::vector<scene::SignalGraphView> moments;
  torch::Tensor first = torch::empty_like(moment);  // first node of the moment's graph
  auto* first_node = first.mutable_data_ptr<std::int64_t>();
  std::int64_t nodes = 0;
  for (std::int64_t i = 0; i < moment.size(0); ++i) {
    if (i == 0 || at[i] != at[i - 1]) {
      if (!moments.empty()) nodes += moments.back().num_nodes();
      moments.push_back(experience.moments[static_cast<std::size_t>(at[i])]);
    }
    first_node[i] = nodes;
  }
  taken.batch.graph = pack_lights(moments);
  taken.batch.node = of_decisions(experience.node) + first;
  return taken;
}

}  // namespace traffic::train::lights
