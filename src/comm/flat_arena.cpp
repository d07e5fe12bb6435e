// ParameterArena and GradientArena: one flat tensor that contains all parameters of a network, and
// one that contains all gradients.
#include "traffic/comm/flat_arena.h"

#include <ATen/ATen.h>

#include <set>

#include "traffic/core/error.h"

namespace traffic::comm {
namespace {

constexpr std::int64_t kAlignment = 16;  ///< in elements: 64 bytes of float32

std::int64_t align(std::int64_t offset) {
  return (offset + kAlignment - 1) / kAlignment * kAlignment;
}

void check_parameters(const NamedTensors& parameters) {
  if (parameters.empty()) throw ShapeError("a parameter arena needs at least one parameter");
  std::set<const void*> seen;
  const at::Device device = parameters.front().second.device();
  for (const auto& [name, parameter] : parameters) {
    if (!parameter.defined() || parameter.scalar_type() != at::kFloat ||
        parameter.device() != device) {
      throw ShapeError("parameter {}: expected float32 on {}, found {}", name, device.str(),
                       parameter.defined() ? parameter.toString() : "nothing");
    }
    if (!seen.insert(parameter.unsafeGetTensorImpl()).second) {
      throw ShapeError("parameter {}: already in the arena under another name", name);
    }
  }
}

}  // namespace

at::Tensor view_of(const at::Tensor& flat, const ArenaEntry& entry) {
  return flat.narrow(0, entry.offset, entry.numel).view(entry.sizes);
}

ParameterArena::ParameterArena(NamedTensors parameters) : parameters_(std::move(parameters)) {
  check_parameters(parameters_);
  std::int64_t end = 0;
  for (const auto& [name, parameter] : parameters_) {
    entries_.push_back({name, align(end), parameter.sizes().vec(), parameter.numel()});
    end = entries_.back().offset + parameter.numel();
  }
  const at::NoGradGuard no_grad;
  const at::TensorOptions options = parameters_.front().second.options().requires_grad(false);
  flat_ = at::zeros({align(end)}, options);
  for (std::size_t i = 0; i < entries_.size(); ++i) {
    at::Tensor& parameter = parameters_[i].second;
    const at::Tensor view = view_of(flat_, entries_[i]);
    view.copy_(parameter);
    parameter.set_data(view);
  }
}

GradientArena::GradientArena(const ParameterArena& parameters, Communicator& communicator)
    : parameters_(parameters.parameters()), entries_(parameters.entries()) {
  for (const auto& [name, parameter] : parameters_) {
    if (!parameter.requires_grad()) {
      throw ShapeError("parameter {} needs no gradient: leave it out of the arena", name);
    }
  }
  flat_ = communicator.shared_zeros(parameters.flat().numel(), at::kFloat);
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    views_.push_back(view_of(flat_, entries_[i]));
    parameters_[i].second.mutable_grad() = views_.back();
  }
}

GradientArena::~GradientArena() {
  for (auto& [name, parameter] : parameters_) parameter.mutable_grad().reset();
}

void GradientArena::zero() { flat_.zero_(); }

void GradientArena::check_views() const {
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    const at::Tensor& gradient = parameters_[i].second.grad();
    if (gradient.defined() && gradient.data_ptr() == views_[i].data_ptr() &&
        gradient.sizes() == views_[i].sizes()) {
      continue;
    }
    throw Error(
        fmt::format("the gradient of {} is no longer a view of the arena: clear gradients with "
                    "GradientArena::zero() only",
                    parameters_[i].first));
  }
}

}  // namespace traffic::comm
