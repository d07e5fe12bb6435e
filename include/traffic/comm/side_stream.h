/// SideStream runs functions concurrently with the caller: on a CUDA stream of its own, or in a
/// thread for CPU tensors. The gradient reducer uses it to reduce while backward is running.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

namespace traffic::comm {

/// Runs the submitted functions in the order of submission. Only one thread at a time may call the
/// methods of a stream.
class SideStream {
 public:
  SideStream() = default;
  virtual ~SideStream() = default;
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  /// Returns at once. The work sees the results of all operations that the caller has issued so
  /// far. Everything that the work refers to must live until join().
  virtual void submit(std::function<void()> work) = 0;
  /// Makes the caller's later operations wait for all submitted work.
  /// @throws the exception of the first work that failed, if a thread runs the work (CPU tensors).
  ///   The thread has not run the work that was submitted after it
  virtual void join() = 0;
};

/// Makes a CUDA stream on a GPU, or a thread for the CPU.
std::unique_ptr<SideStream> make_side_stream(at::Device device);

}  // namespace traffic::comm
