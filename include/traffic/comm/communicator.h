/// Collective operations of all ranks, each with a deadline.
///
/// All ranks call the same operations in the same order with tensors of the same type and size. A
/// rank that does not is found out: the others get a CommError that names the operation, its number
/// and the rank. After a CommError the communicator is broken and every call throws.
///
/// Tensors are contiguous. The order of reduction is fixed by rank, so results repeat to the bit
/// and are equal on all ranks. CPU tensors are done when a call returns; CUDA tensors follow the
/// current stream like any torch operation. One thread at a time.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "traffic/comm/mpi_session.h"
#include "traffic/config/config.h"

namespace traffic::comm {

enum class ReduceOp : std::uint8_t { kSum, kMax, kMin };

class Communicator {
 public:
  explicit Communicator(Topology topology) : topology_(std::move(topology)) {}
  virtual ~Communicator() = default;
  Communicator(const Communicator&) = delete;
  Communicator& operator=(const Communicator&) = delete;

  [[nodiscard]] int rank() const { return topology_.rank; }
  [[nodiscard]] int size() const { return topology_.size; }
  [[nodiscard]] const Topology& topology() const { return topology_; }

  /// In place: tensor becomes the sum (maximum, minimum) over ranks.
  /// Types: float32, float64, float16, bfloat16 (both summed in float32), int32, int64.
  /// @throws ShapeError for a tensor that is not contiguous or of another type
  void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);

  /// In place: tensor becomes the sum over ranks of scale * tensor, each rank with its own scale.
  /// @return sum of squares of the result, not finite if one of its elements is not; equal on all
  ///     ranks
  double all_reduce_scaled(const at::Tensor& tensor, double scale);

  /// In place: tensor becomes root's.
  void broadcast(const at::Tensor& tensor, int root);

  /// @return [size, ...]: row r is rank r's tensor
  at::Tensor all_gather(const at::Tensor& tensor);

  /// Returns when all ranks have called it.
  virtual void barrier() = 0;

  /// Zeroed memory from which all_reduce needs no copies (shared by the ranks of a node, or on the
  /// device). Collective; the storage lives as long as the tensor.
  /// @return [count] of type dtype
  /// @throws ResourceError on all ranks if the node's memory does not suffice
  virtual at::Tensor shared_zeros(std::int64_t count, at::ScalarType dtype) = 0;

  /// Where the tensors of this communicator live; CPU tensors are welcome on every communicator.
  [[nodiscard]] virtual at::Device device() const = 0;
  /// The communicator of the same ranks whose tensors live on the CPU: this one, unless it is of
  /// GPUs. Lives as long as this one.
  virtual Communicator& host() { return *this; }
  /// Seconds that the host of this rank has waited for other ranks so far; for any thread.
  [[nodiscard]] virtual double waited_s() const { return 0.0; }

  // Values of the host, for control: every rank gets the same result.

  double all_reduce_scalar(double value, ReduceOp op = ReduceOp::kSum);
  /// @throws CommError "<what> differs: ..." naming the ranks whose hash is not rank 0's
  void all_agree(std::uint64_t hash, const std::string& what);
  /// @return root's text
  std::string broadcast_string(const std::string& text, int root);
  /// @return one text a rank on root, nothing elsewhere
  std::vector<std::string> gather_strings(const std::string& text, int root);

 protected:
  virtual void do_all_reduce(const at::Tensor& tensor, ReduceOp op) = 0;
  virtual double do_all_reduce_scaled(const at::Tensor& tensor, double scale);
  virtual void do_broadcast(const at::Tensor& tensor, int root) = 0;
  virtual void do_all_gather(const at::Tensor& tensor, const at::Tensor& into) = 0;

 private:
  Topology topology_;
};

/// MPI and shared memory for device cpu, NCCL for cuda (CPU tensors then still go through MPI).
/// Collective over the session.
/// @throws ConfigError for cuda in a build without it, ResourceError with too few GPUs or where
/// only
///     some ranks have one, CommError naming the ranks that did not come within comm.init_timeout_s
std::unique_ptr<Communicator> make_communicator(const MpiSession& session, at::Device device,
                                                const config::Comm& options);

/// @throws CommError naming the ranks whose parameters are not rank 0's
void check_replicas_equal(Communicator& communicator, const at::Tensor& flat,
                          const std::string& what);

}  // namespace traffic::comm
