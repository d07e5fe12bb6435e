// The functions of MpiCommunicator for broadcast and all_gather. Data pass through the stages of
// NodeChannel (the ranks' buffers in shared memory) in chunks of at most kStage bytes.
#include <ATen/core/Tensor.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "mpi_communicator.h"

namespace traffic::comm {

void MpiCommunicator::do_broadcast(const at::Tensor& tensor, int root) {
  std::byte* data = bytes_of(tensor);
  const std::size_t bytes = tensor.nbytes();
  const auto found = std::ranges::find(topology().local_ranks, root);
  const auto root_local = static_cast<int>(found - topology().local_ranks.begin());
  run({.bytes = bytes, .root = root, .op = OpCode::kBroadcast, .dtype = tensor.scalar_type()},
      [&](Call& call) {
        if (bytes == 0) return meet(call);
        for (std::size_t begin = 0; begin < bytes; begin += kStage) {
          broadcast_chunk(data + begin, std::min(kStage, bytes - begin), root_local, call);
        }
      });
}

/// Broadcasts one chunk.
/// @param root_local index of the root among the ranks of its node; ignored on other nodes
void MpiCommunicator::broadcast_chunk(std::byte* data, std::size_t bytes, int root_local,
                                      Call& call) {
  const int root = call.header.root;
  const bool is_root = rank() == root;
  if (is_root) std::memcpy(node_->stage(), data, bytes);
  meet(call);
  if (has_leaders()) {
    if (leaders_) {
      const int root_node = topology().node_of_rank[static_cast<std::size_t>(root)];
      if (topology().node() == root_node) {
        std::memcpy(node_->stage(), node_->staged(root_local), bytes);
      }
      leaders_->broadcast(node_->stage(), bytes, root_node, call.header, call.leaders);
    }
    meet(call);
    root_local = 0;
  }
  if (!is_root) std::memcpy(data, node_->staged(root_local), bytes);
}

void MpiCommunicator::do_all_gather(const at::Tensor& tensor, const at::Tensor& into) {
  const std::size_t row = tensor.nbytes();
  const std::byte* mine = bytes_of(tensor);
  std::byte* out = bytes_of(into);
  run({.bytes = row, .op = OpCode::kAllGather, .dtype = tensor.scalar_type()}, [&](Call& call) {
    if (row == 0) return meet(call);
    for (std::size_t begin = 0; begin < row; begin += kStage) {
      gather_chunk(mine + begin, std::min(kStage, row - begin), out + begin, row, call);
    }
  });
}

/// Gathers one chunk of `bytes` from every rank. Row r of `into` receives the chunk of rank r.
void MpiCommunicator::gather_chunk(const std::byte* mine, std::size_t bytes, std::byte* into,
                                   std::size_t row_bytes, Call& call) {
  std::memcpy(node_->stage(), mine, bytes);
  meet(call);
  for (int local = 0; local < node_->size(); ++local) {
    const auto row =
        static_cast<std::size_t>(topology().local_ranks[static_cast<std::size_t>(local)]);
    std::memcpy(into + row * row_bytes, node_->staged(local), bytes);
  }
  if (has_leaders()) gather_from_nodes(bytes, into, row_bytes, call);
}

void MpiCommunicator::gather_from_nodes(std::size_t bytes, std::byte* into, std::size_t row_bytes,
                                        Call& call) {
  // Ranks sorted by node. LeaderChannel::all_gather() concatenates in this order.
  std::vector<int> order;
  std::vector<std::size_t> bytes_of_node(topology().leaders.size(), 0);
  for (int node = 0; node < topology().num_nodes(); ++node) {
    for (int r = 0; r < size(); ++r) {
      if (topology().node_of_rank[static_cast<std::size_t>(r)] != node) continue;
      order.push_back(r);
      bytes_of_node[static_cast<std::size_t>(node)] += bytes;
    }
  }
  std::vector<std::byte> all;
  if (leaders_) {
    std::vector<std::byte> own;
    for (const int r : topology().local_ranks) {
      const std::byte* row = into + static_cast<std::size_t>(r) * row_bytes;
      own.insert(own.end(), row, row + bytes);
    }
    all = leaders_->all_gather(own.data(), bytes_of_node, call.header, call.leaders);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    const auto row = static_cast<std::size_t>(order[i]);
    if (topology().node_of_rank[row] == topology().node()) continue;
    if (leaders_) std::memcpy(node_->stage(), all.data() + i * bytes, bytes);
    meet(call);
    std::memcpy(into + row * row_bytes, node_->staged(0), bytes);
  }
}

}  // namespace traffic::comm
