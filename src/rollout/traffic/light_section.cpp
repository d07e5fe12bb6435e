// Encodes and decodes what a simulation tells its rank about traffic lights (light_section.h).
#include "light_section.h"

#include "graph_edges.h"
#include "section_head.h"
#include "traffic/core/error.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout {
namespace {

constexpr std::size_t kMaxLights = std::size_t{1} << 15;  // more than any city has
constexpr std::size_t kAnswerBytes = std::size_t{16}
                                     << 20;  // enough for the lights of a large city

/// Head of the section: numbers of elements. The arrays cost_s, choices, rows, idle, idle_rows and
/// ids follow, then the graph if num_nodes is not 0.
struct LightsHead {
  std::uint32_t num_lights;
  std::uint32_t num_choices;
  std::uint32_t num_rows;
  std::uint32_t num_idle;
  std::uint32_t num_idle_rows;
  std::uint32_t num_id_chars;
  std::uint32_t num_nodes;
  std::uint32_t num_edges;
};

/// @param rows number of rows that belong to the choices
/// @param least_present smallest valid value of LightChoice::present
void check_choices(std::span<const LightChoice> choices, std::uint64_t rows, std::size_t num_lights,
                   std::int32_t least_present) {
  std::uint64_t announced = 0;
  std::int32_t light = -1;
  for (const LightChoice& choice : choices) {
    const bool ordered =
        choice.light > light && static_cast<std::size_t>(choice.light) < num_lights;
    if (!ordered || choice.num_greens < 2 || choice.present < least_present ||
        choice.present >= choice.num_greens) {
      throw WorkerError(
          "the observation lists light {} with {} greens and present green {}; expected lights "
          "below {} in ascending order, at least 2 greens, and the index of one of them as the "
          "present green",
          choice.light, choice.num_greens, choice.present, num_lights);
    }
    light = choice.light;
    announced += static_cast<std::uint64_t>(choice.num_greens);
  }
  if (announced != rows) {
    throw WorkerError("the observation has features of {} greens, but its choices list {} greens",
                      rows, announced);
  }
}

scene::SignalGraphView read_graph(ByteReader& reader, std::uint64_t nodes, std::uint64_t edges) {
  if (nodes == 0) return {};
  scene::SignalGraphView graph;
  graph.node_features =
      reader.take<float>(nodes * scene::num_signal_node_features(), "node_features");
  graph.edge_ptr = reader.take<std::int32_t>(nodes + 1, "edge_ptr");
  graph.edge_src = reader.take<std::int32_t>(edges, "edge_src");
  graph.edge_features =
      reader.take<float>(edges * scene::signal_edge_features().size(), "edge_features");
  require_plausible(graph.node_features, "node_features");
  require_plausible(graph.edge_features, "edge_features");
  check_edges(graph.edge_ptr, graph.edge_src);
  return graph;
}

void read_lights(ByteReader& reader, Period& period) {
  const auto head = reader.take_one<LightsHead>("the head of the lights");
  LightSection& out = period.sections.get<LightSection>();
  out.cost_s = reader.take<double>(head.num_lights, "cost_s");
  out.choices = reader.take<LightChoice>(head.num_choices, "choices");
  const std::uint64_t rows = head.num_rows;
  out.rows = reader.take<float>(rows * scene::signal_features().size(), "rows");
  out.idle = reader.take<LightChoice>(head.num_idle, "idle");
  const std::uint64_t idle_rows = head.num_idle_rows;
  out.idle_rows = reader.take<float>(idle_rows * scene::signal_features().size(), "idle_rows");
  out.ids = reader.take<char>(head.num_id_chars, "ids");
  out.graph = read_graph(reader, head.num_nodes, head.num_edges);
  require_plausible(out.cost_s, "cost_s");
  require_plausible(out.rows, "rows");
  require_plausible(out.idle_rows, "idle_rows");
  check_choices(out.choices, rows, out.cost_s.size(), 0);
  check_choices(out.idle, idle_rows, out.cost_s.size(), -1);
  if (head.num_nodes != 0 && head.num_nodes != head.num_lights) {
    throw WorkerError("the graph in the observation has {} lights, expected {}", head.num_nodes,
                      head.num_lights);
  }
}

}  // namespace

void write_lights(const LightSection& lights, ByteWriter& section) {
  section.put_one(LightsHead{
      .num_lights = count_of(lights.cost_s.size()),
      .num_choices = count_of(lights.choices.size()),
      .num_rows = count_of(lights.rows.size() / scene::signal_features().size()),
      .num_idle = count_of(lights.idle.size()),
      .num_idle_rows = count_of(lights.idle_rows.size() / scene::signal_features().size()),
      .num_id_chars = count_of(lights.ids.size()),
      .num_nodes = static_cast<std::uint32_t>(lights.graph.num_nodes()),
      .num_edges = count_of(lights.graph.edge_src.size())});
  section.put(lights.cost_s);
  section.put(lights.choices);
  section.put(lights.rows);
  section.put(lights.idle);
  section.put(lights.idle_rows);
  section.put(lights.ids);
  section.put(lights.graph.node_features);
  section.put(lights.graph.edge_ptr);
  section.put(lights.graph.edge_src);
  section.put(lights.graph.edge_features);
}

AgentFormat lights_format() {
  return {.agent = kLights,
          .order_bytes =
              [](const config::Config&) { return kMaxLights * sizeof(scene::SignalCommand); },
          .answer_bytes = [](const config::Config&) { return kAnswerBytes; },
          .read = read_lights};
}

}  // namespace traffic::rollout
