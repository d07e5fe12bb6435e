#include "rollouts/slot.h"

#include <cstring>
#include <span>
#include <type_traits>

#include "traffic/core/error.h"

namespace traffic::train {
namespace {

class Writer {
 public:
  template <typename T>
  void number(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes_.insert(bytes_.end(), first, first + sizeof(T));
  }
  template <typename T>
  void list(std::span<const T> values) {
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

class Reader {
 public:
  explicit Reader(std::span<const std::byte> bytes) : rest_(bytes) {}

  template <typename T>
  T number() {
    static_assert(std::is_trivially_copyable_v<T>);
    T value;
    std::memcpy(static_cast<void*>(&value), take(sizeof(T)).data(), sizeof(T));
    return value;
  }
  template <typename T>
  std::vector<T> list() {
    const auto count = number<std::uint64_t>();
    if (count > rest_.size() / sizeof(T)) fail();
    std::vector<T> values(count);
    const auto bytes = take(count * sizeof(T));
    if (count > 0) std::memcpy(static_cast<void*>(values.data()), bytes.data(), bytes.size());
    return values;
  }
  torch::Tensor tensor() {
    const auto sizes = list<std::int64_t>();
    const auto values = list<float>();
    std::int64_t expected = 1;
    for (const std::int64_t size : sizes) {
      if (size < 0 || (size > 0 && expected > std::int64_t{1} << 40)) fail();
      expected *= size;
    }
    if (expected != static_cast<std::int64_t>(values.size())) fail();
    return torch::tensor(values).view(sizes);
  }
  void finish() const {
    if (!rest_.empty()) fail();
  }

 private:
  [[noreturn]] static void fail() {
    throw CheckpointError("the state of a simulation is not what this program writes");
  }
  std::span<const std::byte> take(std::size_t size) {
    if (size > rest_.size()) fail();
    const auto part = rest_.first(size);
    rest_ = rest_.subspan(size);
    return part;
  }

  std::span<const std::byte> rest_;
};

}  // namespace

checkpoint::Bytes to_bytes(const Slot& slot) {
  Writer out;
  out.number(slot.running);
  out.number(slot.episode);
  out.number(slot.losses);
  out.number(slot.sampling_seed);
  out.number(slot.time_s);
  out.number(slot.outcome);
  out.list(std::span(slot.memory.vehicle_id));
  const bool remembers = slot.memory.state.hidden.defined();
  out.number(remembers);
  if (remembers) {
    out.tensor(slot.memory.state.hidden);
    out.tensor(slot.memory.state.cell);
  }
  out.number(slot.pending.has_value());
  if (slot.pending) {
    out.tensor(slot.pending->own);
    out.tensor(slot.pending->shared);
    out.tensor(slot.pending->conflict);
  }
  out.number(static_cast<std::uint64_t>(slot.given.size()));
  for (const auto& commands : slot.given) out.list(std::span(commands));
  return out.take();
}

Slot slot_from(const checkpoint::Bytes& bytes, torch::Device device) {
  Reader in(bytes);
  Slot slot;
  slot.running = in.number<bool>();
  slot.episode = in.number<std::int64_t>();
  slot.losses = in.number<std::int64_t>();
  slot.sampling_seed = in.number<std::uint64_t>();
  slot.time_s = in.number<double>();
  slot.outcome = in.number<EpisodeOutcome>();
  slot.memory.vehicle_id = in.list<std::uint32_t>();
  if (in.number<bool>()) {
    slot.memory.state.hidden = in.tensor().to(device);
    slot.memory.state.cell = in.tensor().to(device);
  }
  if (in.number<bool>()) {
    slot.pending.emplace();
    slot.pending->own = in.tensor();
    slot.pending->shared = in.tensor();
    slot.pending->conflict = in.tensor();
  }
  const auto steps = in.number<std::uint64_t>();
  for (std::uint64_t i = 0; i < steps; ++i) slot.given.push_back(in.list<scene::Command>());
  in.finish();
  return slot;
}

}  // namespace traffic::train
