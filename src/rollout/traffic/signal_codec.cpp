#include "signal_codec.h"

#include <cstring>

#include "checked_bytes.h"
#include "traffic/core/error.h"
#include "traffic/core/text.h"
#include "traffic/scene/signal_view.h"

namespace traffic::rollout {
namespace {

constexpr std::uint32_t kSignalMark = 0x54525347;

/// Then: lost_s, choices, rows and, where there are nodes, node_features, edge_ptr, edge_src,
/// edge_features.
struct SignalHead {
  std::uint32_t mark;
  std::uint32_t num_lights;
  std::uint32_t num_choices;
  std::uint32_t num_rows;
  std::uint32_t num_nodes;
  std::uint32_t num_edges;
  std::uint64_t done;
  double time_s;
  scene::EpisodeScore score;
};

/// Puts arrays into a buffer one behind the other.
class Filler {
 public:
  explicit Filler(std::span<std::byte> room) : room_(room) {}
  template <typename T>
  void put(std::span<const T> values) {
    const std::size_t bytes = padded(values.size_bytes());
    if (bytes > room_.size() - used_) {
      throw WorkerError("the observation of the lights does not fit into {}",
                        human_bytes(static_cast<std::int64_t>(room_.size())));
    }
    if (!values.empty()) std::memcpy(room_.data() + used_, values.data(), values.size_bytes());
    used_ += bytes;
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::span<std::byte> room_;
  std::size_t used_ = 0;
};

void check_choices(const SignalPeriod& period, std::uint64_t rows) {
  std::uint64_t announced = 0;
  std::int32_t light = -1;
  for (const SignalChoice& choice : period.choices) {
    const bool ordered =
        choice.light > light && static_cast<std::size_t>(choice.light) < period.lost_s.size();
    if (!ordered || choice.num_greens < 2 || choice.present < 0 ||
        choice.present >= choice.num_greens) {
      throw WorkerError(
          "observation asks for one of {} greens of light {} of {}, of which {} is on",
          choice.num_greens, choice.light, period.lost_s.size(), choice.present);
    }
    light = choice.light;
    announced += static_cast<std::uint64_t>(choice.num_greens);
  }
  if (announced != rows) {
    throw WorkerError("observation has {} rows of greens, its choices have {}", rows, announced);
  }
}

scene::SignalGraphView read_graph(Cursor& cursor, std::uint64_t nodes, std::uint64_t edges) {
  if (nodes == 0) return {};
  scene::SignalGraphView graph;
  graph.node_features =
      cursor.take<float>(nodes * scene::num_signal_node_features(), "node_features");
  graph.edge_ptr = cursor.take<std::int32_t>(nodes + 1, "edge_ptr");
  graph.edge_src = cursor.take<std::int32_t>(edges, "edge_src");
  graph.edge_features =
      cursor.take<float>(edges * scene::signal_edge_features().size(), "edge_features");
  require_plausible(graph.node_features, "node_features");
  require_plausible(graph.edge_features, "edge_features");
  check_edges(graph.edge_ptr, graph.edge_src);
  return graph;
}

}  // namespace

std::size_t write_signal_period(const SignalPeriod& period, std::span<std::byte> room) {
  const std::size_t columns = scene::signal_features().size();
  const SignalHead head{.mark = kSignalMark,
                        .num_lights = static_cast<std::uint32_t>(period.lost_s.size()),
                        .num_choices = static_cast<std::uint32_t>(period.choices.size()),
                        .num_rows = static_cast<std::uint32_t>(period.rows.size() / columns),
                        .num_nodes = static_cast<std::uint32_t>(period.graph.num_nodes()),
                        .num_edges = static_cast<std::uint32_t>(period.graph.edge_src.size()),
                        .done = period.done ? 1U : 0U,
                        .time_s = period.time_s,
                        .score = period.score};
  Filler filler(room);
  filler.put(std::span(&head, 1));
  filler.put(period.lost_s);
  filler.put(period.choices);
  filler.put(period.rows);
  filler.put(period.graph.node_features);
  filler.put(period.graph.edge_ptr);
  filler.put(period.graph.edge_src);
  filler.put(period.graph.edge_features);
  return filler.used();
}

SignalPeriod read_signal_period(std::span<const std::byte> bytes) {
  Cursor cursor(bytes);
  SignalHead head;
  std::memcpy(&head, cursor.take<SignalHead>(1, "the head").data(), sizeof(head));
  if (head.mark != kSignalMark) throw WorkerError("the answer is no observation of lights");
  SignalPeriod period;
  period.time_s = head.time_s;
  period.done = head.done != 0;
  period.score = head.score;
  period.lost_s = cursor.take<double>(head.num_lights, "lost_s");
  period.choices = cursor.take<SignalChoice>(head.num_choices, "choices");
  const std::uint64_t rows = head.num_rows;
  period.rows = cursor.take<float>(rows * scene::signal_features().size(), "rows");
  period.graph = read_graph(cursor, head.num_nodes, head.num_edges);
  if (!cursor.empty()) {
    throw WorkerError("observation is followed by bytes that are not part of it");
  }
  require_plausible(std::span<const double>(&period.time_s, 1), "time_s");
  require_plausible(period.lost_s, "lost_s");
  require_plausible(period.rows, "rows");
  check_choices(period, rows);
  if (head.num_nodes != 0 && head.num_nodes != head.num_lights) {
    throw WorkerError("observation's graph has {} lights of {}", head.num_nodes, head.num_lights);
  }
  check_score(period.score);
  return period;
}

std::span<const scene::SignalCommand> read_signal_commands(std::span<const std::byte> bytes) {
  if (bytes.size() % sizeof(scene::SignalCommand) != 0) {
    throw WorkerError("{} bytes are no whole number of commands for lights", bytes.size());
  }
  return {reinterpret_cast<const scene::SignalCommand*>(bytes.data()),
          bytes.size() / sizeof(scene::SignalCommand)};
}

}  // namespace traffic::rollout
