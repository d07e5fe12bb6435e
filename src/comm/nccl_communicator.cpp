// NcclCommunicator: collective operations of CUDA tensors with NCCL (nccl_communicator.h).
#include "nccl_communicator.h"

#include <ATen/ATen.h>
#include <c10/cuda/CUDAEvent.h>
#include <c10/cuda/CUDAFunctions.h>
#include <c10/cuda/CUDAGuard.h>

#include <array>
#include <cstring>
#include <exception>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/core/hash.h"

namespace traffic::comm {
namespace {

ncclDataType_t nccl_type(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return ncclFloat32;
    case at::kDouble:
      return ncclFloat64;
    case at::kHalf:
      return ncclFloat16;
    case at::kBFloat16:
      return ncclBfloat16;
    case at::kInt:
      return ncclInt32;
    case at::kLong:
      return ncclInt64;
    default:
      throw ShapeError("NCCL does not reduce type {}", at::toString(type));
  }
}

ncclRedOp_t nccl_op(ReduceOp op) {
  switch (op) {
    case ReduceOp::kMax:
      return ncclMax;
    case ReduceOp::kMin:
      return ncclMin;
    case ReduceOp::kSum:
      break;
  }
  return ncclSum;
}

std::string bus_id(at::Device device) {
  std::array<char, 32> text{};
  C10_CUDA_CHECK(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()),
                                       static_cast<int>(device.index())));
  return text.data();
}

}  // namespace

NcclCommunicator::NcclCommunicator(const MpiSession& session, std::unique_ptr<MpiCommunicator> host,
                                   at::Device device, const config::Comm& options)
    : Communicator(host->topology()),
      session_(session),
      host_(std::move(host)),
      device_(device),
      timeout_s_(options.timeout_s),
      exceptions_before_(std::uncaught_exceptions()),
      stream_((check_gpus(), c10::cuda::getStreamFromPool(true, device.index()))) {
  connect(options.init_timeout_s);
  watchdog_.emplace(session_, comm_);
}

NcclCommunicator::~NcclCommunicator() {
  // While an exception unwinds the stack, do not close NCCL: it would wait for ranks that may never
  // finish.
  if (std::uncaught_exceptions() > exceptions_before_) return;
  try {
    close();
  } catch (const std::exception& error) {
    session_.exit_now(ExitCode::kPeerLost, error.what());
  }
}

void NcclCommunicator::close() {
  watchdog_->drain();
  watchdog_.reset();
  const c10::cuda::CUDAGuard guard(device_);
  TRAFFIC_NCCL(ncclCommFinalize(comm_));
  settle(Deadline(timeout_s_), "ncclCommFinalize");
  TRAFFIC_NCCL(ncclCommDestroy(comm_));
}

/// Checks that every rank has a GPU of its own. All ranks see the same data, so all throw the same
/// error.
void NcclCommunicator::check_gpus() {
  const bool exists = device_.has_index() && device_.index() < c10::cuda::device_count();
  // Compares bus ids, because a GPU may have different indices in two processes
  // (CUDA_VISIBLE_DEVICES).
  const std::string name = exists ? bus_id(device_) : std::string();
  const at::Tensor mine = at::scalar_tensor(static_cast<std::int64_t>(xxh3_64(name)), at::kLong);
  const at::Tensor all = host_->all_gather(mine);
  const std::int64_t* gpus = all.const_data_ptr<std::int64_t>();
  const auto none = static_cast<std::int64_t>(xxh3_64(std::string()));
  for (int r = 0; r < size(); ++r) {
    if (gpus[r] == none) {
      throw ResourceError(
          "rank {} has no GPU for itself: start no more ranks per node than the node has GPUs, or "
          "set run.device = \"cpu\"",
          r);
    }
    for (int other = 0; other < r; ++other) {
      const bool same_node = topology().node_of_rank[static_cast<std::size_t>(r)] ==
                             topology().node_of_rank[static_cast<std::size_t>(other)];
      if (same_node && gpus[r] == gpus[other]) {
        throw ResourceError("ranks {} and {} use the same GPU: check CUDA_VISIBLE_DEVICES", other,
                            r);
      }
    }
  }
}

void NcclCommunicator::connect(double timeout_s) {
  const c10::cuda::CUDAGuard guard(device_);
  ncclUniqueId id;
  if (rank() == 0) TRAFFIC_NCCL(ncclGetUniqueId(&id));
  const at::Tensor bytes = at::empty({NCCL_UNIQUE_ID_BYTES}, at::kByte);
  std::memcpy(bytes.mutable_data_ptr(), id.internal, NCCL_UNIQUE_ID_BYTES);
  host_->broadcast(bytes, 0);
  std::memcpy(id.internal, bytes.const_data_ptr(), NCCL_UNIQUE_ID_BYTES);
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;
  const Deadline deadline(timeout_s);
  TRAFFIC_NCCL(ncclCommInitRankConfig(&comm_, size(), id, rank(), &config));
  settle(deadline, "the start of NCCL (comm.init_timeout_s)");
}

void NcclCommunicator::settle(const Deadline& deadline, const char* what) {
  Backoff backoff;
  for (;; backoff.pause()) {
    ncclResult_t state = ncclSuccess;
    TRAFFIC_NCCL(ncclCommGetAsyncError(comm_, &state));
    check_nccl(state, what);
    if (state == ncclSuccess) return;
    if (!deadline.passed()) continue;
    session_.exit_now(ExitCode::kPeerLost,
                      fmt::format("{} did not finish within {} s: a rank was lost or the GPUs do "
                                  "not reach each other; with NCCL_DEBUG=INFO NCCL prints details",
                                  what, deadline.limit_s()));
  }
}

void NcclCommunicator::run(const OpHeader& header, const at::Tensor& tensor,
                           const Enqueue& enqueue) {
  const std::string name = host_->announce(header);
  const Deadline deadline(timeout_s_);
  const c10::cuda::CUDAGuard guard(device_);
  const c10::cuda::CUDAStream current = c10::cuda::getCurrentCUDAStream(device_.index());
  c10::cuda::CUDAEvent ready;
  ready.record(current);
  ready.block(stream_);
  {
    const auto lock = watchdog_->lock_comm();
    TRAFFIC_NCCL(enqueue(stream_.stream()));
    settle(deadline, name.c_str());
  }
  // The allocator must not reuse the memory before our stream has finished with it.
  tensor.record_stream(stream_.unwrap());
  c10::cuda::CUDAEvent done;
  done.record(stream_);
  done.block(current);
  watchdog_->watch(std::move(done), name, deadline);
}

at::Tensor NcclCommunicator::shared_zeros(std::int64_t count, at::ScalarType dtype) {
  return at::zeros({count}, at::TensorOptions().dtype(dtype).device(device_));
}

void NcclCommunicator::do_all_reduce(const at::Tensor& tensor, ReduceOp op) {
  if (tensor.device().is_cpu()) return host_->all_reduce(tensor, op);
  const ncclDataType_t type = nccl_type(tensor.scalar_type());
  const auto count = static_cast<std::size_t>(tensor.numel());
  void* data = tensor.mutable_data_ptr();
  run({.bytes = tensor.nbytes(),
       .op = OpCode::kAllReduce,
       .reduce = op,
       .dtype = tensor.scalar_type()},
      tensor, [&](cudaStream_t stream) {
        return ncclAllReduce(data, data, count, type, nccl_op(op), comm_, stream);
      });
}

void NcclCommunicator::do_broadcast(const at::Tensor& tensor, int root) {
  if (tensor.device().is_cpu()) return host_->broadcast(tensor, root);
  void* data = tensor.mutable_data_ptr();
  run({.bytes = tensor.nbytes(),
       .root = root,
       .op = OpCode::kBroadcast,
       .dtype = tensor.scalar_type()},
      tensor, [&](cudaStream_t stream) {
        return ncclBroadcast(data, data, tensor.nbytes(), ncclUint8, root, comm_, stream);
      });
}

void NcclCommunicator::do_all_gather(const at::Tensor& tensor, const at::Tensor& into) {
  if (tensor.device().is_cpu()) {
    into.copy_(host_->all_gather(tensor));
    return;
  }
  into.record_stream(stream_.unwrap());
  run({.bytes = tensor.nbytes(), .op = OpCode::kAllGather, .dtype = tensor.scalar_type()}, tensor,
      [&](cudaStream_t stream) {
        return ncclAllGather(tensor.const_data_ptr(), into.mutable_data_ptr(), tensor.nbytes(),
                             ncclUint8, comm_, stream);
      });
}

}  // namespace traffic::comm
