#include "rollouts/episode_state.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <span>
#include <type_traits>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

constexpr std::uint32_t kMagic = 0x544f4c53;  // "SLOT"
constexpr std::uint32_t kVersion = 5;

/// Appends little-endian numbers.
class Writer {
 public:
  template <typename T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  void flag(bool value) { number(static_cast<std::uint8_t>(value)); }
  template <typename T>
  void list(std::span<const T> values) {
    static_assert(std::is_arithmetic_v<T>);
    number(static_cast<std::uint64_t>(values.size()));
    const auto bytes = std::as_bytes(values);
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void tensor(const torch::Tensor& value) {
    const torch::Tensor flat = value.to(torch::kCPU, torch::kFloat).contiguous();
    list(std::span<const std::int64_t>(value.sizes().begin(), value.sizes().end()));
    list(std::span(flat.const_data_ptr<float>(), static_cast<std::size_t>(flat.numel())));
  }
  checkpoint::Bytes take() { return std::move(bytes_); }

 private:
  checkpoint::Bytes bytes_;
};

/// Reads the bytes of a Writer. They may be damaged, so every count must fit the remaining bytes.
class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    static_assert(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>);
    T value;
    std::memcpy(&value, take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  /// Requires a number within minimum .. maximum.
  template <typename T>
  T number(T minimum, T maximum) {
    const T value = number<T>();
    require(value >= minimum && value <= maximum);
    return value;
  }
  double finite() {
    const auto value = number<double>();
    require(std::isfinite(value));
    return value;
  }
  std::int64_t count() { return number<std::int64_t>(0, std::numeric_limits<std::int64_t>::max()); }
  bool flag() { return number<std::uint8_t>(0, 1) == 1; }
  /// Number of entries that follow. @param minimum_bytes size of the smallest possible entry
  std::size_t entries(std::size_t minimum_bytes) {
    return number<std::uint64_t>(0, rest_.size() / minimum_bytes);
  }
  template <typename T>
  std::vector<T> list() {
    const std::size_t count = entries(sizeof(T));
    std::vector<T> values(count);
    const auto bytes = take(count * sizeof(T));
    if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  torch::Tensor tensor(std::size_t dimensions) {
    const auto sizes = list<std::int64_t>();
    require(sizes.size() == dimensions);
    // The product of the sizes other than 0 is limited too, because strides are computed from it.
    std::int64_t room = std::int64_t{1} << 40;
    std::int64_t numel = 1;
    for (const std::int64_t size : sizes) {
      require(size >= 0 && size <= room);
      room /= std::max<std::int64_t>(1, size);
      numel *= size;
    }
    const auto values = list<float>();
    require(numel == static_cast<std::int64_t>(values.size()));
    return torch::tensor(values, torch::kFloat).view(sizes);
  }
  void finish() const { require(rest_.empty()); }

  static void require(bool condition) {
    if (condition) return;
    throw CheckpointError(
        "the checkpoint's state of a simulation is damaged; resume from another checkpoint, or "
        "start a new run from the weights of this checkpoint (run.init_from)");
  }

 private:
  std::span<const std::byte> take(std::size_t size) {
    require(size <= rest_.size());
    const auto part = rest_.first(size);
    rest_ = rest_.subspan(size);
    return part;
  }

  std::span<const std::byte> rest_;
};

/// Calls `visit` for the fields of a score in the order in which they are stored. standing_s and
/// signal_changes are not stored, because the next answer of the simulation contains them.
template <typename Score, typename Visit>
void each_field(Score& score, const Visit& visit) {
  static_assert(sizeof(Score) == 34 * sizeof(double),
                "EpisodeScore has changed: update this list and kVersion");
  visit(score.seconds);
  visit(score.departed);
  visit(score.arrived);
  visit(score.removed);
  visit(score.waiting);
  visit(score.discarded);
  visit(score.running);
  visit(score.completion_sum);
  visit(score.vehicle_steps);
  visit(score.speed_sum);
  visit(score.speed_square_sum);
  visit(score.abs_accel_sum);
  visit(score.time_loss_s);
  visit(score.depart_delay_s);
  visit(score.driven_m);
  visit(score.road_emissions.co2_g);
  visit(score.road_emissions.fuel_g);
  visit(score.road_emissions.electricity_wh);
  visit(score.waiting_emissions.co2_g);
  visit(score.waiting_emissions.fuel_g);
  visit(score.waiting_emissions.electricity_wh);
  visit(score.collisions);
  visit(score.emergency_stops);
  visit(score.emergency_brakes);
  visit(score.hard_brakes);
  visit(score.teleports);
  visit(score.interventions);
  visit(score.cv_steps);
  visit(score.unsafe_steps);
  visit(score.unsafe_cv_steps);
  visit(score.shield_clips);
  visit(score.shield_overrides);
}

void write(Writer& out, const EpisodeOutcome& outcome) {
  out.number(outcome.order);
  out.number(outcome.traffic.seed);
  out.number(outcome.traffic.scenario);
  out.number(outcome.traffic.demand_scale);
  out.number(outcome.steps);
  out.number(outcome.reward);
  out.number(outcome.cost);
  each_field(outcome.score, [&](auto value) { out.number(value); });
}

EpisodeOutcome read_outcome(Reader& in) {
  EpisodeOutcome outcome;
  outcome.order = in.count();
  outcome.traffic.seed = in.number<std::uint64_t>();
  outcome.traffic.scenario = in.count();
  outcome.traffic.demand_scale = in.finite();
  outcome.steps = in.count();
  outcome.reward = in.finite();
  outcome.cost = in.finite();
  each_field(outcome.score, [&](auto& value) {
    if constexpr (std::is_same_v<decltype(value), double&>) {
      value = in.finite();
    } else {
      value = in.count();
    }
  });
  return outcome;
}

void write(Writer& out, const RecurrentState& memory) {
  out.list(std::span(memory.vehicle_id));
  const bool remembers = memory.state.hidden.defined();
  out.flag(remembers);
  if (!remembers) return;
  out.tensor(memory.state.hidden);
  out.tensor(memory.state.cell);
}

RecurrentState read_memory(Reader& in, torch::Device device) {
  RecurrentState memory;
  memory.vehicle_id = in.list<std::uint32_t>();
  const auto& id = memory.vehicle_id;
  // The ids must be strictly ascending.
  Reader::require(std::ranges::adjacent_find(id, std::greater_equal()) == id.end());
  if (in.flag()) {
    const torch::Tensor hidden = in.tensor(3);
    const torch::Tensor cell = in.tensor(3);
    Reader::require(hidden.size(1) == static_cast<std::int64_t>(id.size()) &&
                    cell.sizes() == hidden.sizes());
    memory.state = {.hidden = hidden.to(device), .cell = cell.to(device)};
  } else {
    Reader::require(id.empty());
  }
  return memory;
}

void write(Writer& out, const std::optional<Observation>& seen) {
  out.flag(seen.has_value());
  if (!seen) return;
  out.tensor(seen->own);
  out.tensor(seen->shared);
  out.tensor(seen->conflict);
}

std::optional<Observation> read_seen(Reader& in) {
  if (!in.flag()) return std::nullopt;
  Observation seen;
  seen.own = in.tensor(2);
  seen.shared = in.tensor(2);
  seen.conflict = in.tensor(2);
  Reader::require(seen.shared.size(0) == 1);
  return seen;
}

void write(Writer& out, const scene::Command& command) {
  out.number(command.vehicle_id);
  out.number(static_cast<std::uint8_t>(command.longitudinal));
  out.number(static_cast<std::int8_t>(command.lane_change));
  out.number(command.value);
  out.number(command.hold_s);
}

/// Size of a command as written above.
constexpr std::size_t kCommandBytes = 4 + 1 + 1 + 8 + 8;

scene::Command read_command(Reader& in) {
  scene::Command command;
  command.vehicle_id = in.number<std::uint32_t>();
  constexpr auto kLast = static_cast<std::uint8_t>(scene::kLastLongitudinal);
  command.longitudinal = static_cast<scene::Longitudinal>(in.number<std::uint8_t>(0, kLast));
  command.lane_change = static_cast<scene::LaneChange>(in.number<std::int8_t>(-1, 1));
  command.value = in.finite();
  command.hold_s = in.finite();
  return command;
}

}  // namespace

checkpoint::Bytes to_bytes(const EpisodeState& state) {
  Writer out;
  out.number(kMagic);
  out.number(kVersion);
  out.flag(state.progress.running);
  out.number(state.progress.episode);
  out.number(state.progress.losses);
  out.number(state.sampling_seed);
  out.number(state.time_s);
  write(out, state.outcome);
  write(out, state.memory);
  write(out, state.pending);
  out.number(static_cast<std::uint64_t>(state.given.size()));
  for (const auto& commands : state.given) {
    out.number(static_cast<std::uint64_t>(commands.size()));
    for (const scene::Command& command : commands) write(out, command);
  }
  return out.take();
}

EpisodeState episode_state_from(const checkpoint::Bytes& bytes, std::int64_t scenarios,
                                torch::Device device) {
  Reader in(bytes);
  if (in.number<std::uint32_t>() != kMagic || in.number<std::uint32_t>() != kVersion) {
    throw CheckpointError(
        "the checkpoint's state of a simulation was written by another version of this program, "
        "expected format {}; resume with that version, or start from the checkpoint's weights with "
        "run.init_from",
        kVersion);
  }
  EpisodeState state;
  state.progress.running = in.flag();
  state.progress.episode = in.number<std::int64_t>(-1, std::numeric_limits<std::int64_t>::max());
  state.progress.losses = in.count();
  state.sampling_seed = in.number<std::uint64_t>();
  state.time_s = in.finite();
  state.outcome = read_outcome(in);
  if (state.outcome.traffic.scenario >= scenarios) {
    throw CheckpointError(
        "the checkpoint contains a simulation of scenario {}, but this run has {} scenarios; "
        "resume with the scenarios of the checkpoint's run, or start from the checkpoint's weights "
        "with run.init_from",
        state.outcome.traffic.scenario + 1, scenarios);
  }
  state.memory = read_memory(in, device);
  state.pending = read_seen(in);
  state.given.resize(in.entries(sizeof(std::uint64_t)));
  for (auto& commands : state.given) {
    commands.resize(in.entries(kCommandBytes));
    for (scene::Command& command : commands) command = read_command(in);
  }
  in.finish();
  return state;
}

}  // namespace traffic::train
