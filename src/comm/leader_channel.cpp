// LeaderChannel: agreement, broadcast, all_gather and failure reports between the leaders of nodes.
// leader_reduction.cpp contains all_reduce.
#include "leader_channel.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/process.h"

namespace traffic::comm {
namespace {

constexpr int kDataTag = 7101;
constexpr int kFailureTag = 7102;
/// Maximum size of a message. Open MPI sends a message of 64 KiB or more, its header included, only
/// after the receiver has granted permission. The permission queues behind the data on the same
/// connection. A link that should be busy in both directions would therefore idle a third of the
/// time.
constexpr std::size_t kMessageBytes = std::size_t{60} << 10;
constexpr double kReportS = 0.2;  ///< maximum seconds for handing a failure report to MPI

}  // namespace

LeaderChannel::LeaderChannel(MpiComm comm, std::vector<int> leaders, int node_index, SumPlan plan,
                             const NodeChannel& node)
    : comm_(std::move(comm)),
      leaders_(std::move(leaders)),
      node_index_(node_index),
      plan_(std::move(plan)),
      parts_of_node_(leaders_.size()),
      node_(node),
      headers_(leaders_.size()),
      hosts_(leaders_.size()) {
  HostName host{};
  hostname().copy(host.data(), host.size() - 1);
  TRAFFIC_MPI(MPI_Allgather(host.data(), static_cast<int>(host.size()), MPI_CHAR, hosts_.data(),
                            static_cast<int>(host.size()), MPI_CHAR, comm_.get()));
  for (std::size_t p = 0; p < plan_.parts.size(); ++p) {
    parts_of_node_[static_cast<std::size_t>(plan_.parts[p].node)].push_back(p);
  }
  listen();
}

LeaderChannel::~LeaderChannel() {
  if (listener_ != MPI_REQUEST_NULL) {
    MPI_Cancel(&listener_);
    MPI_Request_free(&listener_);
  }
}

void LeaderChannel::listen() {
  TRAFFIC_MPI(MPI_Irecv(reported_.data(), static_cast<int>(reported_.size()), MPI_CHAR,
                        MPI_ANY_SOURCE, kFailureTag, comm_.get(), &listener_));
}

void LeaderChannel::receive(std::byte* data, std::size_t bytes, int peer) {
  start_receive(transfers_, {data, bytes}, peer, kDataTag);
}

void LeaderChannel::send(const std::byte* data, std::size_t bytes, int peer) {
  start_send(transfers_, {data, bytes}, peer, kDataTag);
}

void LeaderChannel::start_receive(std::vector<Transfer>& transfers, std::span<std::byte> data,
                                  int peer, int tag) const {
  do {  // sends at least one message, even if there are no bytes
    const std::size_t bytes = std::min(data.size(), kMessageBytes);
    Transfer& transfer = transfers.emplace_back(Transfer{MPI_REQUEST_NULL, peer, true});
    TRAFFIC_MPI(MPI_Irecv(data.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_.get(),
                          &transfer.request));
    data = data.subspan(bytes);
  } while (!data.empty());
}

void LeaderChannel::start_send(std::vector<Transfer>& transfers, std::span<const std::byte> data,
                               int peer, int tag) const {
  do {
    const std::size_t bytes = std::min(data.size(), kMessageBytes);
    Transfer& transfer = transfers.emplace_back(Transfer{MPI_REQUEST_NULL, peer, false});
    TRAFFIC_MPI(MPI_Isend(data.data(), static_cast<int>(bytes), MPI_BYTE, peer, tag, comm_.get(),
                          &transfer.request));
    data = data.subspan(bytes);
  } while (!data.empty());
}

void LeaderChannel::finish(const OpHeader& header, const Deadline& deadline) {
  const Stopwatch clock;
  Backoff backoff(kLongestSleepUs);
  while (!test(transfers_)) {
    check_health(header, deadline);
    backoff.pause();
  }
  waited_s_.fetch_add(clock.seconds(), std::memory_order_relaxed);
}

bool LeaderChannel::test(std::vector<Transfer>& transfers) {
  for (Transfer& transfer : transfers) {
    int done = 0;
    TRAFFIC_MPI(MPI_Test(&transfer.request, &done, MPI_STATUS_IGNORE));
  }
  std::erase_if(transfers, [](const Transfer& t) { return t.request == MPI_REQUEST_NULL; });
  return transfers.empty();
}

std::vector<LeaderChannel::Transfer> LeaderChannel::all_transfers() const {
  std::vector<Transfer> all = transfers_;
  for (const Piece& piece : pieces_) {
    all.insert(all.end(), piece.transfers.begin(), piece.transfers.end());
  }
  return all;
}

void LeaderChannel::check_health(const OpHeader& header, const Deadline& deadline) {
  throw_if_failed();
  if (!deadline.passed()) return;
  std::vector<int> missing;
  for (const Transfer& transfer : all_transfers()) missing.push_back(transfer.peer);
  std::ranges::sort(missing);
  missing.erase(std::unique(missing.begin(), missing.end()), missing.end());
  std::vector<std::string> names;
  for (const int peer : missing) {
    const auto node = static_cast<std::size_t>(peer);
    names.push_back(fmt::format("rank {} on {}", leaders_[node], hosts_[node].data()));
  }
  throw CommError(
      "{}: {} did not come within {} s (comm.timeout_s). A rank named here communicates for its "
      "whole node: see the logs of that node, and check that the network reaches it",
      describe(header), fmt::join(names, ", "), deadline.limit_s());
}

void LeaderChannel::throw_if_failed() {
  int reported = 0;
  TRAFFIC_MPI(MPI_Test(&listener_, &reported, MPI_STATUS_IGNORE));
  if (reported) throw PeerFailure(std::string(reported_.data()));
  node_.throw_if_failed();
}

void LeaderChannel::agree(const OpHeader& header, const Deadline& deadline) {
  throw_if_failed();
  own_header_ = header;
  for (int peer = 0; peer < static_cast<int>(leaders_.size()); ++peer) {
    if (peer == node_index_) continue;
    receive(reinterpret_cast<std::byte*>(&headers_[static_cast<std::size_t>(peer)]),
            sizeof(OpHeader), peer);
    send(reinterpret_cast<const std::byte*>(&own_header_), sizeof(OpHeader), peer);
  }
  finish(header, deadline);
  for (std::size_t peer = 0; peer < leaders_.size(); ++peer) {
    if (static_cast<int>(peer) == node_index_ || same_call(header, headers_[peer])) continue;
    throw CommError(describe_mismatch(leaders_[static_cast<std::size_t>(node_index_)], header,
                                      leaders_[peer], headers_[peer]));
  }
}

void LeaderChannel::broadcast(std::byte* data, std::size_t bytes, int root_node,
                              const OpHeader& header, const Deadline& deadline) {
  if (node_index_ != root_node) {
    receive(data, bytes, root_node);
  } else {
    for (int peer = 0; peer < static_cast<int>(leaders_.size()); ++peer) {
      if (peer != node_index_) send(data, bytes, peer);
    }
  }
  finish(header, deadline);
}

std::vector<std::byte> LeaderChannel::all_gather(const std::byte* mine,
                                                 std::span<const std::size_t> bytes_of_node,
                                                 const OpHeader& header, const Deadline& deadline) {
  const std::size_t total =
      std::accumulate(bytes_of_node.begin(), bytes_of_node.end(), std::size_t{0});
  inbox_.resize(std::max(inbox_.size(), total));
  std::size_t offset = 0;
  for (int peer = 0; peer < static_cast<int>(leaders_.size()); ++peer) {
    const std::size_t bytes = bytes_of_node[static_cast<std::size_t>(peer)];
    if (peer == node_index_) {
      std::memcpy(inbox_.data() + offset, mine, bytes);
    } else {
      receive(inbox_.data() + offset, bytes, peer);
      send(mine, bytes_of_node[static_cast<std::size_t>(node_index_)], peer);
    }
    offset += bytes;
  }
  finish(header, deadline);
  return {inbox_.begin(), inbox_.begin() + static_cast<std::ptrdiff_t>(total)};
}

void LeaderChannel::fail(const std::string& message) noexcept {
  if (std::exchange(failed_, true)) return;
  const bool was_told = listener_ == MPI_REQUEST_NULL;
  for (Transfer& transfer : all_transfers()) {
    if (transfer.is_receive && transfer.request != MPI_REQUEST_NULL) MPI_Cancel(&transfer.request);
  }
  transfers_.clear();
  for (Piece& piece : pieces_) piece.transfers.clear();
  const MPI_Comm comm = comm_.get();
  // Not freed: MPI must not reuse the communicator's number while messages may be in flight.
  comm_.release();
  if (was_told) return;
  std::memcpy(report_.data(), message.data(), std::min(message.size(), report_.size() - 1));
  std::vector<MPI_Request> requests;
  for (int peer = 0; peer < static_cast<int>(leaders_.size()); ++peer) {
    if (peer == node_index_) continue;
    MPI_Request& request = requests.emplace_back(MPI_REQUEST_NULL);
    MPI_Isend(report_.data(), static_cast<int>(report_.size()), MPI_CHAR, peer, kFailureTag, comm,
              &request);
  }
  int done = 0;
  Backoff backoff;
  for (const Deadline deadline(kReportS); !done && !deadline.passed(); backoff.pause()) {
    MPI_Testall(static_cast<int>(requests.size()), requests.data(), &done, MPI_STATUSES_IGNORE);
  }
}

}  // namespace traffic::comm
