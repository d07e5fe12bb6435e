// The functions of MpiCommunicator that implement all_reduce and all_reduce_scaled. A slice is the
// range of an array that one rank reduces; to stage data means to copy them to shared memory.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi_communicator.h"
#include "reduce_kernels.h"

namespace traffic::comm {
namespace {

using Slice = ByteRange;

/// Up to this size every rank of a single node sums all elements itself. The ranks then need not
/// wait for each other a second time to exchange the sums of their slices.
constexpr std::size_t kSmallBytes = std::size_t{16} * 1024;
constexpr std::int64_t kLineBytes = 64;

/// Slice number `part` of num_parts slices of an array of `bytes`. All slices but the last are
/// multiples of `unit`.
Slice slice_of(std::int64_t bytes, int part, int num_parts, std::int64_t unit = kLineBytes) {
  const auto cut = [&](int i) {
    return i == num_parts ? bytes : bytes / unit * i / num_parts * unit;
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
  reduce_staged_part(local_parts_.front(), std::span(&data, 1), {0, signed_size(bytes)}, call);
}

/// Reduces a slice of the data that the ranks of a part have staged.
/// @param destinations where to write the result; each points to the begin of the slice
void MpiCommunicator::reduce_staged_part(const LocalPart& part,
                                         std::span<std::byte* const> destinations, Slice slice,
                                         const Call& call) {
  std::vector<const std::byte*> sources;
  for (const int local : part.local_ranks) sources.push_back(node_->staged(local) + slice.begin);
  const auto count = slice.bytes() / signed_size(at::elementSize(call.header.dtype));
  reduce({sources, part.merges, destinations, count}, call.header.dtype, call.header.reduce);
}

void MpiCommunicator::reduce_staged(std::byte* data, std::size_t bytes, Call& call) {
  if (bytes == 0) return meet(call);
  for (std::size_t begin = 0; begin < bytes; begin += kStage) {
    const std::size_t piece = std::min(kStage, bytes - begin);
    if (has_leaders()) {
      reduce_chunk_of_nodes(data + begin, piece, call);
    } else {
      reduce_chunk(data + begin, piece, call);
    }
  }
}

void MpiCommunicator::reduce_chunk(std::byte* data, std::size_t bytes, Call& call) {
  std::memcpy(node_->stage(), data, bytes);
  meet(call);
  const Slice own = slice_of(signed_size(bytes), node_->local_rank(), node_->size());
  std::byte* result = node_->stage() + own.begin;
  reduce_staged_part(local_parts_.front(), std::span(&result, 1), own, call);
  meet(call);
  for (int local = 0; local < node_->size(); ++local) {
    const Slice slice = slice_of(signed_size(bytes), local, node_->size());
    std::memcpy(data + slice.begin, node_->staged(local) + slice.begin,
                static_cast<std::size_t>(slice.bytes()));
  }
}

/// Reduces at most kStage bytes on several nodes. Each leader sums the data of its node, and the
/// leaders combine these sums.
void MpiCommunicator::reduce_chunk_of_nodes(std::byte* data, std::size_t bytes, Call& call) {
  std::memcpy(node_->stage(), data, bytes);
  meet(call);
  if (leaders_) {
    std::vector<std::vector<std::byte>> sums(local_parts_.size(), std::vector<std::byte>(bytes));
    std::vector<std::byte*> parts;
    for (std::size_t p = 0; p < sums.size(); ++p) {
      parts.push_back(sums[p].data());
      reduce_staged_part(local_parts_[p], std::span(&parts.back(), 1), {0, signed_size(bytes)},
                         call);
    }
    leaders_->all_reduce(parts, node_->stage(), signed_size(bytes), call.header, call.leaders);
  }
  meet(call);
  std::memcpy(data, node_->staged(0), bytes);
}

/// Where to write a slice of a part's sum. With one node these are the arenas of all ranks. With
/// several nodes it is only the arena of the part's first rank.
std::vector<std::byte*> MpiCommunicator::destinations_of(const LocalPart& part,
                                                         const ArenaPlace& place,
                                                         Slice slice) const {
  std::vector<std::byte*> destinations;
  for (const int local : part.local_ranks) {
    destinations.push_back(place.of(local) + slice.begin);
    if (has_leaders()) break;
  }
  return destinations;
}

void MpiCommunicator::reduce_in_arena(const ArenaPlace& place, std::int64_t count, Call& call) {
  const auto element = signed_size(at::elementSize(call.header.dtype));
  meet(call);
  const Slice own = slice_of(count * element, node_->local_rank(), node_->size());
  for (const LocalPart& part : local_parts_) {
    std::vector<const std::byte*> sources;
    for (const int local : part.local_ranks) sources.push_back(place.of(local) + own.begin);
    const auto destinations = destinations_of(part, place, own);
    reduce({sources, part.merges, destinations, own.bytes() / element}, call.header.dtype,
           call.header.reduce);
  }
  meet(call);
  spread_from_leader(place, static_cast<std::size_t>(count * element), call);
}

/// With several nodes the sum of each part of this node is in the arena of the part's first rank.
/// The leaders combine the parts, and every rank copies the result.
void MpiCommunicator::spread_from_leader(const ArenaPlace& place, std::size_t bytes, Call& call) {
  if (!has_leaders()) return;
  if (leaders_) {
    std::vector<std::byte*> parts;
    for (const LocalPart& part : local_parts_) parts.push_back(place.of(part.local_ranks.front()));
    leaders_->all_reduce(parts, place.of(0), signed_size(bytes), call.header, call.leaders);
  }
  meet(call);
  if (!leaders_) std::memcpy(place.of(node_->local_rank()), place.of(0), bytes);
  meet(call);  // the leader waits here, because it may change its arena afterwards
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
  const Slice own =
      slice_of(count * element, node_->local_rank(), node_->size(), kSquareBlock * element);
  const std::int64_t own_count = own.bytes() / element;
  std::vector<double> squares(static_cast<std::size_t>(num_square_blocks(own_count)));
  for (const LocalPart& part : local_parts_) {
    std::vector<const float*> sources;
    std::vector<float> scales;
    std::vector<float*> destinations;
    for (const int local : part.local_ranks) {
      sources.push_back(reinterpret_cast<const float*>(place.of(local) + own.begin));
      const double scale =
          local == node_->local_rank() ? call.header.scale : node_->header_of(local).scale;
      scales.push_back(static_cast<float>(scale));
    }
    for (std::byte* destination : destinations_of(part, place, own)) {
      destinations.push_back(reinterpret_cast<float*>(destination));
    }
    reduce_scaled({sources, scales, part.merges, destinations, own_count}, squares);
  }
  if (has_leaders()) {
    meet(call);
    spread_from_leader(place, static_cast<std::size_t>(count * element), call);
    const std::byte* sum = place.of(node_->local_rank());
    sum_squares(reinterpret_cast<const float*>(sum + own.begin), own_count, squares);
  }
  return add_up_squares(squares, place, count, call);
}

/// Adds the sums of squares of all blocks of an array in the order of the blocks. When the function
/// returns, all ranks have written their slices of the arena.
/// @param own sums of squares of the blocks in this rank's slice
double MpiCommunicator::add_up_squares(const std::vector<double>& own, const ArenaPlace& place,
                                       std::int64_t count, Call& call) {
  const auto bytes_of = [](std::size_t blocks) { return blocks * sizeof(double); };
  if (bytes_of(static_cast<std::size_t>(num_square_blocks(count))) > kStage) {
    meet(call);
    return sum_of_squares(reinterpret_cast<const float*>(place.of(node_->local_rank())), count);
  }
  if (!own.empty()) std::memcpy(node_->stage(), own.data(), bytes_of(own.size()));
  meet(call);
  double sum = 0.0;
  std::vector<double> squares;
  for (int local = 0; local < node_->size(); ++local) {
    const Slice slice = slice_of(count, local, node_->size(), kSquareBlock);
    squares.resize(static_cast<std::size_t>(num_square_blocks(slice.bytes())));
    if (!squares.empty())
      std::memcpy(squares.data(), node_->staged(local), bytes_of(squares.size()));
    for (const double block : squares) sum += block;
  }
  return sum;
}

}  // namespace traffic::comm
