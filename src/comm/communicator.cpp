// The functions of Communicator that check arguments, and those that need no particular transport.
#include "traffic/comm/communicator.h"

#include <ATen/ATen.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "reduce_kernels.h"
#include "squared_norm.h"
#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic::comm {
namespace {

void check_tensor(const Communicator& communicator, const at::Tensor& tensor, const char* op) {
  if (!tensor.defined() || tensor.layout() != at::kStrided || !tensor.is_contiguous()) {
    throw ShapeError("{}: the tensor must be defined and contiguous", op);
  }
  if (!tensor.device().is_cpu() && tensor.device() != communicator.device()) {
    throw ShapeError("{}: the tensor is on {}, the communicator on {}", op, tensor.device().str(),
                     communicator.device().str());
  }
}

void check_type(const at::Tensor& tensor, const char* op) {
  if (can_reduce(tensor.scalar_type())) return;
  throw ShapeError(
      "{}: type {} cannot be reduced; expected float32, float64, float16, bfloat16, int32 or int64",
      op, at::toString(tensor.scalar_type()));
}

void check_root(const Communicator& communicator, int root, const char* op) {
  TRAFFIC_CHECK(root >= 0 && root < communicator.size(),
                "{}: the root is rank {}, but there are {} ranks, counted from 0", op, root,
                communicator.size());
}

}  // namespace

void Communicator::all_reduce(const at::Tensor& tensor, ReduceOp op) {
  check_tensor(*this, tensor, "all_reduce");
  check_type(tensor, "all_reduce");
  if (size() > 1) do_all_reduce(tensor, op);
}

double Communicator::all_reduce_scaled(const at::Tensor& tensor, double scale) {
  check_tensor(*this, tensor, "all_reduce_scaled");
  if (tensor.scalar_type() != at::kFloat) {
    throw ShapeError("all_reduce_scaled: the tensor must be float32, not {}",
                     at::toString(tensor.scalar_type()));
  }
  const bool is_alone = size() == 1;
  return is_alone ? Communicator::do_all_reduce_scaled(tensor, scale)
                  : do_all_reduce_scaled(tensor, scale);
}

double Communicator::do_all_reduce_scaled(const at::Tensor& tensor, double scale) {
  if (scale != 1.0) tensor.mul_(scale);
  all_reduce(tensor, ReduceOp::kSum);
  return squared_norm(tensor);
}

void Communicator::broadcast(const at::Tensor& tensor, int root) {
  check_tensor(*this, tensor, "broadcast");
  check_root(*this, root, "broadcast");
  if (size() > 1) do_broadcast(tensor, root);
}

at::Tensor Communicator::all_gather(const at::Tensor& tensor) {
  check_tensor(*this, tensor, "all_gather");
  std::vector<std::int64_t> sizes = tensor.sizes().vec();
  sizes.insert(sizes.begin(), size());
  at::Tensor rows = at::empty(sizes, tensor.options().requires_grad(false));
  do_all_gather(tensor, rows);
  return rows;
}

double Communicator::all_reduce_scalar(double value, ReduceOp op) {
  const at::Tensor tensor = at::scalar_tensor(value, at::kDouble);
  all_reduce(tensor, op);
  return tensor.item<double>();
}

void Communicator::all_agree(std::uint64_t hash, const std::string& what) {
  // Reinterpret the hash as the signed integer type that tensors support.
  const at::Tensor mine = at::scalar_tensor(static_cast<std::int64_t>(hash), at::kLong);
  const at::Tensor all = all_gather(mine);
  const std::int64_t* hashes = all.const_data_ptr<std::int64_t>();
  std::vector<std::string> others;
  for (int r = 1; r < size(); ++r) {
    if (hashes[r] == hashes[0]) continue;
    others.push_back(fmt::format("rank {} {}", r, hex64(static_cast<std::uint64_t>(hashes[r]))));
  }
  if (others.empty()) return;
  throw CommError("{} differs: rank 0 has {}, {}", what,
                  hex64(static_cast<std::uint64_t>(hashes[0])), fmt::join(others, ", "));
}

std::string Communicator::broadcast_string(const std::string& text, int root) {
  const at::Tensor length = at::scalar_tensor(static_cast<std::int64_t>(text.size()), at::kLong);
  broadcast(length, root);
  const at::Tensor bytes = at::empty({length.item<std::int64_t>()}, at::kByte);
  if (rank() == root && !text.empty()) {
    std::memcpy(bytes.mutable_data_ptr(), text.data(), text.size());
  }
  broadcast(bytes, root);
  return {static_cast<const char*>(bytes.const_data_ptr()),
          static_cast<std::size_t>(bytes.numel())};
}

std::vector<std::string> Communicator::gather_strings(const std::string& text, int root) {
  check_root(*this, root, "gather_strings");
  const auto own = static_cast<std::int64_t>(text.size());
  const at::Tensor lengths = all_gather(at::scalar_tensor(own, at::kLong));
  const at::Tensor padded = at::zeros({lengths.max().item<std::int64_t>()}, at::kByte);
  if (!text.empty()) std::memcpy(padded.mutable_data_ptr(), text.data(), text.size());
  const at::Tensor rows = all_gather(padded);
  std::vector<std::string> texts;
  if (rank() != root) return texts;
  for (int r = 0; r < size(); ++r) {
    const at::Tensor row = rows[r];
    texts.emplace_back(static_cast<const char*>(row.const_data_ptr()),
                       static_cast<std::size_t>(lengths[r].item<std::int64_t>()));
  }
  return texts;
}

void check_replicas_equal(Communicator& communicator, const at::Tensor& flat,
                          const std::string& what) {
  const at::Tensor host = flat.detach().contiguous().cpu();
  const auto* bytes = static_cast<const std::byte*>(host.const_data_ptr());
  communicator.all_agree(xxh3_64(std::span(bytes, host.nbytes())), what);
}

}  // namespace traffic::comm
