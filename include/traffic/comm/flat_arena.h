/// Flat arenas: one tensor that contains all parameters of a model, and one that contains all their
/// gradients. The model's own tensors become views of the arenas. One loop then updates all
/// parameters, and one all_reduce without copies reduces all gradients.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "traffic/comm/communicator.h"

namespace traffic::comm {

using NamedTensors = std::vector<std::pair<std::string, at::Tensor>>;

/// Position of one parameter in the flat tensor.
struct ArenaEntry {
  std::string name;
  std::int64_t offset = 0;  ///< offset in elements; a multiple of 16, i.e. of 64 bytes
  std::vector<std::int64_t> sizes;
  std::int64_t numel = 0;
};

/// View of one parameter in `flat` [P], a tensor with the same layout as the arena. P is the length
/// of the arena in elements.
at::Tensor view_of(const at::Tensor& flat, const ArenaEntry& entry);

/// Owns one flat tensor. The parameters become views of it and keep their values. Build the arena
/// after any call of module.to(...), which replaces the parameters. Gaps between parameters are
/// zero and stay zero under any elementwise update that maps zero to zero.
class ParameterArena {
 public:
  /// @param parameters float32, all on one device, each listed once
  /// @throws ShapeError naming a parameter that is not float32, is on another device or is listed
  ///   twice
  explicit ParameterArena(NamedTensors parameters);

  [[nodiscard]] const at::Tensor& flat() const { return flat_; }  ///< [P], gaps included
  [[nodiscard]] const std::vector<ArenaEntry>& entries() const { return entries_; }
  [[nodiscard]] const NamedTensors& parameters() const { return parameters_; }

 private:
  NamedTensors parameters_;
  std::vector<ArenaEntry> entries_;
  at::Tensor flat_;
};

/// Owns the gradients of the parameters of a ParameterArena, with the same layout, in the
/// communicator's shared memory. Autograd adds to them in place; the gradient of a parameter that
/// backward does not reach stays zero.
class GradientArena {
 public:
  /// Collective. Replaces the parameters' gradients by views of this arena.
  /// @throws ShapeError for a parameter that requires no gradient. Frozen parameters must not be in
  ///   the ParameterArena
  GradientArena(const ParameterArena& parameters, Communicator& communicator);
  /// Clears the parameters' gradients, so that no view refers to released memory.
  ~GradientArena();
  GradientArena(const GradientArena&) = delete;
  GradientArena& operator=(const GradientArena&) = delete;

  [[nodiscard]] const at::Tensor& flat() const { return flat_; }  ///< [P]
  [[nodiscard]] const NamedTensors& parameters() const { return parameters_; }
  /// Position of each parameter's gradient.
  [[nodiscard]] const std::vector<ArenaEntry>& entries() const { return entries_; }
  void zero();
  /// Checks that the gradients still are views of this arena. A gradient that
  /// zero_grad(set_to_none) or create_graph has replaced is not in the arena and would not be
  /// reduced.
  /// @throws Error naming a parameter whose gradient was replaced
  void check_views() const;

 private:
  NamedTensors parameters_;
  std::vector<ArenaEntry> entries_;
  std::vector<at::Tensor> views_;
  at::Tensor flat_;
};

}  // namespace traffic::comm
