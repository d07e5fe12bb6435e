// BucketReduction: sums gradients over the ranks while the backward pass still computes further
// gradients.
#include "bucket_reduction.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function_hook.h>
#include <torch/csrc/autograd/variable.h>

#include <algorithm>
#include <utility>

#include "traffic/core/error.h"

namespace traffic::comm {

/// Autograd calls the hook after it has added a parameter's gradient to the arena. For CPU tensors
/// it does so in the thread that called backward. For CUDA tensors it does so in a device thread,
/// while the caller of backward waits.
class BucketReduction::ReadyHook final : public torch::autograd::PostAccumulateGradHook {
 public:
  ReadyHook(BucketReduction& reduction, std::size_t parameter)
      : reduction_(reduction), parameter_(parameter) {}
  void operator()(const at::Tensor& /*parameter*/) override { reduction_.on_ready(parameter_); }

 private:
  BucketReduction& reduction_;
  std::size_t parameter_;
};

BucketReduction::BucketReduction(Communicator& communicator, GradientArena& gradients,
                                 at::Tensor compressed, std::unique_ptr<SideStream> side,
                                 double bucket_cap_mb)
    : communicator_(communicator),
      gradients_(gradients),
      compressed_(std::move(compressed)),
      buckets_(cut_buckets(gradients.entries(), gradients.flat().numel(),
                           static_cast<std::int64_t>(bucket_cap_mb * 1024 * 1024))),
      queue_(buckets_),
      is_unused_(gradients.parameters().size(), false),
      side_(std::move(side)) {
  for (std::size_t p = 0; p < is_unused_.size(); ++p) {
    torch::autograd::impl::set_post_acc_grad_hooks(gradients_.parameters()[p].second,
                                                   std::make_unique<ReadyHook>(*this, p));
  }
}

BucketReduction::~BucketReduction() {
  for (const auto& [name, parameter] : gradients_.parameters()) {
    torch::autograd::impl::set_post_acc_grad_hooks(parameter, nullptr);
  }
}

void BucketReduction::declare_unused(const std::vector<std::string>& names) {
  is_unused_.assign(is_unused_.size(), false);
  const NamedTensors& parameters = gradients_.parameters();
  for (const std::string& name : names) {
    const auto found =
        std::ranges::find_if(parameters, [&](const auto& item) { return item.first == name; });
    if (found == parameters.end()) throw ShapeError("there is no parameter {} in the arena", name);
    is_unused_[static_cast<std::size_t>(found - parameters.begin())] = true;
  }
  has_order_ = false;
}

void BucketReduction::start(double scale) {
  scale_ = scale;
  queue_.start(is_unused_);
  running_ = true;
}

void BucketReduction::on_ready(std::size_t parameter) {
  if (running_) launch(queue_.mark_ready(parameter));
}

void BucketReduction::finish() {
  running_ = false;
  launch(queue_.finish());
  side_->join();
  if (!has_order_) learn_order();
}

void BucketReduction::launch(const std::vector<std::size_t>& buckets) {
  for (const std::size_t b : buckets) {
    side_->submit([this, b] { reduce(buckets_[b]); });
  }
}

void BucketReduction::reduce(const Bucket& bucket) const {
  const at::NoGradGuard no_grad;
  const at::Tensor part = gradients_.flat().narrow(0, bucket.offset, bucket.numel);
  // Scales each rank's gradient before the cast to the 16-bit type. The sum of unscaled gradients
  // may exceed the range of that type. The sum of scaled gradients does not: it is the average of
  // the unscaled ones.
  if (scale_ != 1.0) part.mul_(scale_);
  if (!compressed_.defined()) return communicator_.all_reduce(part);
  const at::Tensor half = compressed_.narrow(0, bucket.offset, bucket.numel);
  half.copy_(part);
  communicator_.all_reduce(half);
  part.copy_(half);
}

/// From now on all ranks reduce the buckets in the order in which they became complete on rank 0.
/// Collective.
void BucketReduction::learn_order() {
  const std::vector<std::size_t> own = queue_.completion_order();
  const at::Tensor order = at::tensor(std::vector<std::int64_t>(own.begin(), own.end()), at::kLong);
  communicator_.broadcast(order, 0);
  const std::int64_t* data = order.const_data_ptr<std::int64_t>();
  queue_.set_order({data, data + order.numel()});
  has_order_ = true;
}

}  // namespace traffic::comm
