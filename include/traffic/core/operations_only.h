/// Work that is recorded once and repeated with other numbers in the same tensors.
#pragma once

namespace traffic {

/// While one lives, models and losses that this thread calls are made of tensor operations alone,
/// as on GPUs, also where the CPU has loops of its own: a loop would do its work while it is
/// recorded, on what the tensors hold then.
class OperationsOnly {
 public:
  OperationsOnly() { ++depth(); }
  ~OperationsOnly() { --depth(); }
  OperationsOnly(const OperationsOnly&) = delete;
  OperationsOnly& operator=(const OperationsOnly&) = delete;

  [[nodiscard]] static bool is_on() { return depth() > 0; }

 private:
  static int& depth() {
    thread_local int depth = 0;
    return depth;
  }
};

}  // namespace traffic
