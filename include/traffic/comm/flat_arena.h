/// Flat arenas: all parameters of a model, and all their gradients, as views of one tensor each. So
/// one loop updates all parameters, and one all_reduce without copies reduces all gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traffic/comm/communicator.h"

namespace traffic::comm {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Where one parameter lies in the flat tensor.
struct ArenaEntry {
  std::string name;
  std::int64_t offset = 0;  ///< in elements; a multiple of 16, i.e. of 64 bytes
  std::vector<std::int64_t> sizes;
  std::int64_t numel = 0;
};

/// A parameter's part of a flat tensor [P] that is laid out like the arena's.
at::Tensor view_of(const at::Tensor& flat, const ArenaEntry& entry);

/// Owns the flat tensor; the parameters become views of it, with their values. Parameters keep
/// their place until the module replaces them (module.to(...) does): build the arena afterwards.
/// Gaps between parameters are zero and stay zero under any elementwise update of zeros.
class ParameterArena {
 public:
  /// @param parameters float32, on one device, each once
  /// @throws ShapeError naming the parameter that does not fit
  explicit ParameterArena(NamedTensors parameters);

  [[nodiscard]] const at::Tensor& flat() const { return flat_; }  ///< [P], gaps included
  [[nodiscard]] const std::vector<ArenaEntry>& entries() const { return entries_; }
  [[nodiscard]] const NamedTensors& parameters() const { return parameters_; }

 private:
  NamedTensors parameters_;
  std::vector<ArenaEntry> entries_;
  at::Tensor flat_;
};

/// Owns the gradients of an arena's parameters in the communicator's shared memory, same layout.
/// Autograd adds to them in place; a parameter that gets no gradient keeps zeros.
class GradientArena {
 public:
  /// Collective. The parameters' gradients are these views from now on.
  /// @throws ShapeError for a parameter that needs no gradient: leave frozen ones out of the arena
  GradientArena(const ParameterArena& parameters, Communicator& communicator);
  /// The parameters keep no view of memory that goes away.
  ~GradientArena();
  GradientArena(const GradientArena&) = delete;
  GradientArena& operator=(const GradientArena&) = delete;

  [[nodiscard]] const at::Tensor& flat() const { return flat_; }  ///< [P]
  [[nodiscard]] const NamedTensors& parameters() const { return parameters_; }
  /// Where the gradient of each parameter lies.
  [[nodiscard]] const std::vector<ArenaEntry>& entries() const { return entries_; }
  void zero();
  /// @throws Error naming a parameter whose gradient was replaced (zero_grad(set_to_none) and
  ///     create_graph do that), which would leave it unreduced
  void check_views() const;

 private:
  NamedTensors parameters_;
  std::vector<ArenaEntry> entries_;
  std::vector<at::Tensor> views_;
  at::Tensor flat_;
};

}  // namespace traffic::comm
