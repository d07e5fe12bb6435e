/// Communicator: the collective operations (all_reduce, broadcast, all_gather, barrier) between the
/// ranks of a job, i.e. its processes. Every operation has a deadline.
///
/// All ranks call the same operations in the same order with tensors of the same type and size.
/// When one rank deviates, the other ranks get a CommError that names the operation, its number and
/// that rank. After a CommError the communicator is broken and every call throws.
///
/// Tensors are contiguous. Results are bit-identical on all ranks and from run to run. On the CPU
/// the order of summation depends only on the number of ranks; on GPUs NCCL chooses it. An
/// operation on CPU tensors is complete when the call returns; an operation on CUDA tensors is
/// put into the current CUDA stream like any torch operation. Only one thread at a time may use a
/// communicator.
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

  /// Replaces the tensor by the sum, maximum or minimum over all ranks, as `op` says.
  /// Types: float32, float64, float16, bfloat16, int32, int64. Sums of float16 and bfloat16 are
  /// computed in float32.
  /// @throws ShapeError if the tensor is not contiguous or its type is not one of these
  void all_reduce(const at::Tensor& tensor, ReduceOp op = ReduceOp::kSum);

  /// Replaces the tensor by the sum over ranks of scale * tensor; each rank passes its own scale.
  /// @return sum of the squares of all elements of the result, the same on all ranks. It is NaN or
  ///   infinite if an element is NaN or infinite
  double all_reduce_scaled(const at::Tensor& tensor, double scale);

  /// Replaces the tensor by the tensor of rank `root`.
  void broadcast(const at::Tensor& tensor, int root);

  /// @return [size, ...]; row r is the tensor of rank r
  at::Tensor all_gather(const at::Tensor& tensor);

  /// Returns once all ranks have called it.
  virtual void barrier() = 0;

  /// Allocates zeroed memory that all_reduce works on without copies: shared by the ranks of a
  /// node, or on the device. Collective; the storage lives as long as the tensor.
  /// @return [count] of type dtype
  /// @throws ResourceError on all ranks if the node does not have enough memory
  virtual at::Tensor shared_zeros(std::int64_t count, at::ScalarType dtype) = 0;

  /// Device of this communicator's tensors. Every communicator accepts CPU tensors as well.
  [[nodiscard]] virtual at::Device device() const = 0;
  /// Communicator of the same ranks for CPU tensors. A communicator for the CPU returns itself. The
  /// result lives as long as this object.
  virtual Communicator& host() { return *this; }
  /// Seconds that this rank's CPU threads have waited for other ranks so far. Any thread may call
  /// this function.
  [[nodiscard]] virtual double waited_s() const { return 0.0; }

  // Functions for numbers and texts in CPU memory, e.g. for decisions that must be the same on all
  // ranks.

  double all_reduce_scalar(double value, ReduceOp op = ReduceOp::kSum);
  /// Checks that all ranks pass the same hash. In the error, `what` names the hashed object.
  /// @throws CommError "<what> differs: ..." naming the ranks whose hash differs from rank 0's
  void all_agree(std::uint64_t hash, const std::string& what);
  /// @return the text of rank `root`
  std::string broadcast_string(const std::string& text, int root);
  /// @return on root one text per rank, in rank order; empty on the other ranks
  std::vector<std::string> gather_strings(const std::string& text, int root);

 protected:
  virtual void do_all_reduce(const at::Tensor& tensor, ReduceOp op) = 0;
  virtual double do_all_reduce_scaled(const at::Tensor& tensor, double scale);
  virtual void do_broadcast(const at::Tensor& tensor, int root) = 0;
  virtual void do_all_gather(const at::Tensor& tensor, const at::Tensor& into) = 0;

 private:
  Topology topology_;
};

/// Makes a communicator that uses MPI and shared memory for device cpu. For cuda it uses NCCL for
/// CUDA tensors, and MPI for CPU tensors. Collective over the session.
/// @throws ConfigError for cuda in a build without CUDA; ResourceError if there are too few GPUs or
///   only some ranks have one; CommError naming the ranks that did not arrive within
///   comm.init_timeout_s
std::unique_ptr<Communicator> make_communicator(const MpiSession& session, at::Device device,
                                                const config::Comm& options);

/// Checks that `flat` has the same bytes on all ranks. `what` names the tensor in the error.
/// @throws CommError naming the ranks whose parameters differ from rank 0's
void check_replicas_equal(Communicator& communicator, const at::Tensor& flat,
                          const std::string& what);

}  // namespace traffic::comm
