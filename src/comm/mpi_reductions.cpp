// The reductions of MpiCommunicator.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi_communicator.h"
#include "reduce_kernels.h"

namespace traffic::comm {
namespace {

/// Up to here every rank reduces everything by itself, which saves a round.
constexpr std::size_t kSmallBytes = std::size_t{16} * 1024;
constexpr std::int64_t kLineBytes = 64;

struct Slice {
  std::int64_t begin;
  std::int64_t end;
  [[nodiscard]] std::int64_t bytes() const { return end - begin; }
};

/// One part of bytes, in whole cache lines except for the last.
Slice slice_of(std::int64_t bytes, int part, int num_parts) {
  const auto cut = [&](int i) {
    return i == num_parts ? bytes : bytes / kLineBytes * i / num_parts * kLineBytes;
  };
  return {cut(part), cut(part + 1)};
}

std::int64_t signed_size(std::size_t bytes) { return static_cast<std::int64_t>(bytes); }

}  // namespace

void MpiCommunicator::do_all_reduce(const at::Tensor& tensor, ReduceOp op) {
  const std::size_t bytes = tensor.nbytes();
  std::byte* data = bytes_of(tensor);
  OpHeader header{
      .bytes = bytes, .op = OpCode::kAllReduce, .reduce = op, .dtype = tensor.scalar_type()};
  const auto place = bytes > kSmallBytes ? arenas_.find(data, bytes) : std::nullopt;
  if (place) {
    header.arena = place->arena;
    header.offset = place->offset;
  }
  run(header, [&](Call& call) {
    if (place) {
      reduce_in_arena(*place, tensor.numel(), call);
    } else if (bytes > 0 && bytes <= kSmallBytes && !has_leaders()) {
      reduce_small(data, bytes, call);
    } else {
      reduce_staged(data, bytes, call);
    }
  });
}

void MpiCommunicator::reduce_small(std::byte* data, std::size_t bytes, Call& call) {
  std::memcpy(node_->stage(), data, bytes);
  meet(call);
  std::vector<const std::byte*> sources;
  for (int local = 0; local < node_->size(); ++local) sources.push_back(node_->staged(local));
  const auto count = signed_size(bytes / at::elementSize(call.header.dtype));
  reduce(sources, std::span(&data, 1), count, call.header.dtype, call.header.reduce);
}

void MpiCommunicator::reduce_staged(std::byte* data, std::size_t bytes, Call& call) {
  if (bytes == 0) return meet(call);
  for (std::size_t begin = 0; begin < bytes; begin += kStage) {
    reduce_chunk(data + begin, std::min(kStage, bytes - begin), call);
  }
}

void MpiCommunicator::reduce_chunk(std::byte* data, std::size_t bytes, Call& call) {
  const auto element = signed_size(at::elementSize(call.header.dtype));
  std::memcpy(node_->stage(), data, bytes);
  meet(call);
  const Slice own = slice_of(signed_size(bytes), node_->local_rank(), node_->size());
  std::vector<const std::byte*> sources;
  for (int local = 0; local < node_->size(); ++local) {
    sources.push_back(node_->staged(local) + own.begin);
  }
  std::byte* result = node_->stage() + own.begin;
  reduce(sources, std::span(&result, 1), own.bytes() / element, call.header.dtype,
         call.header.reduce);
  meet(call);
  const auto collect = [&](std::byte* into) {
    for (int local = 0; local < node_->size(); ++local) {
      const Slice slice = slice_of(signed_size(bytes), local, node_->size());
      std::memcpy(into + slice.begin, node_->staged(local) + slice.begin,
                  static_cast<std::size_t>(slice.bytes()));
    }
  };
  if (!has_leaders()) return collect(data);
  if (leaders_) {
    std::byte* sum = node_->stage();
    collect(sum);
    leaders_->all_reduce(sum, signed_size(bytes) / element, call.header, call.leaders);
  }
  meet(call);
  std::memcpy(data, node_->staged(0), bytes);
}

void MpiCommunicator::reduce_in_arena(const ArenaPlace& place, std::int64_t count, Call& call) {
  const auto element = signed_size(at::elementSize(call.header.dtype));
  meet(call);
  const Slice own = slice_of(count * element, node_->local_rank(), node_->size());
  std::vector<const std::byte*> sources;
  std::vector<std::byte*> destinations;
  for (int local = 0; local < node_->size(); ++local) {
    sources.push_back(place.of(local) + own.begin);
    destinations.push_back(place.of(local) + own.begin);
  }
  if (has_leaders()) destinations.resize(1);
  reduce(sources, destinations, own.bytes() / element, call.header.dtype, call.header.reduce);
  meet(call);
  spread_from_leader(place, static_cast<std::size_t>(count * element), call);
}

/// With several nodes: the node's sum is in the leader's arena; adds the other nodes' and copies.
void MpiCommunicator::spread_from_leader(const ArenaPlace& place, std::size_t bytes, Call& call) {
  if (!has_leaders()) return;
  if (leaders_) {
    const auto count = signed_size(bytes / at::elementSize(call.header.dtype));
    leaders_->all_reduce(place.of(0), count, call.header, call.leaders);
  }
  meet(call);
  if (!leaders_) std::memcpy(place.of(node_->local_rank()), place.of(0), bytes);
  meet(call);  // before the leader goes on and changes its arena
}

double MpiCommunicator::do_all_reduce_scaled(const at::Tensor& tensor, double scale) {
  const auto place = arenas_.find(tensor.data_ptr(), tensor.nbytes());
  if (!place) return Communicator::do_all_reduce_scaled(tensor, scale);
  const OpHeader header{.bytes = tensor.nbytes(),
                        .arena = place->arena,
                        .offset = place->offset,
                        .scale = scale,
                        .op = OpCode::kAllReduce,
                        .dtype = at::kFloat};
  double squares = 0.0;
  run(header, [&](Call& call) { squares = reduce_scaled_in_arena(*place, tensor.numel(), call); });
  return squares;
}

double MpiCommunicator::reduce_scaled_in_arena(const ArenaPlace& place, std::int64_t count,
                                               Call& call) {
  meet(call);
  const auto element = signed_size(sizeof(float));
  const Slice own = slice_of(count * element, node_->local_rank(), node_->size());
  std::vector<const float*> sources;
  std::vector<float> scales;
  std::vector<float*> destinations;
  for (int local = 0; local < node_->size(); ++local) {
    destinations.push_back(reinterpret_cast<float*>(place.of(local) + own.begin));
    sources.push_back(destinations.back());
    const double scale =
        local == node_->local_rank() ? call.header.scale : node_->header_of(local).scale;
    scales.push_back(static_cast<float>(scale));
  }
  if (has_leaders()) destinations.resize(1);
  const double part = reduce_scaled(sources, scales, destinations, own.bytes() / element);
  if (!has_leaders()) return share_sum(part, call);
  meet(call);
  spread_from_leader(place, static_cast<std::size_t>(count * element), call);
  // Nodes of different sizes cut slices differently: only the whole gives all the same bits.
  return sum_of_squares(reinterpret_cast<const float*>(place.of(node_->local_rank())), count);
}

/// Sum of the ranks' parts in rank order; also the round after which the arenas are complete.
double MpiCommunicator::share_sum(double part, Call& call) {
  std::memcpy(node_->stage(), &part, sizeof(part));
  meet(call);
  double sum = 0.0;
  for (int local = 0; local < node_->size(); ++local) {
    std::memcpy(&part, node_->staged(local), sizeof(part));
    sum += part;
  }
  return sum;
}

}  // namespace traffic::comm
