/// Work that runs beside the caller's: on a CUDA stream, or in a thread for CPU tensors.
#pragma once

#include <c10/core/Device.h>

#include <functional>
#include <memory>

namespace traffic::comm {

/// Work runs in the order in which it was submitted. One thread at a time may use a stream.
class SideStream {
 public:
  SideStream() = default;
  virtual ~SideStream() = default;
  SideStream(const SideStream&) = delete;
  SideStream& operator=(const SideStream&) = delete;

  /// The work sees everything that the caller has asked for so far; the caller goes on at once.
  /// What the work uses must live until join().
  virtual void submit(std::function<void()> work) = 0;
  /// Everything that the caller asks for from here on sees the results of all work.
  /// @throws what the first failing work threw; work behind it has not run
  virtual void join() = 0;
};

/// A CUDA stream of the device, or a thread for the CPU.
/// @throws ConfigError for a GPU in a program built without CUDA
std::unique_ptr<SideStream> make_side_stream(at::Device device);

}  // namespace traffic::comm
