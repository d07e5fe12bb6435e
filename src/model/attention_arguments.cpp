// Converts the tensors of an encoder layer to the pointers that the attention kernels take.
#include "attention_arguments.h"

#include <ATen/ATen.h>

#include <cmath>

#include "buffer_pool.h"

namespace traffic::model {
namespace {

using kernels::kEdgeFeatures;
using kernels::kMaxHeads;
using kernels::kRiskHidden;

/// The transpose, padded with zeros to `columns` columns.
at::Tensor transposed(const at::Tensor& weight, std::int64_t columns) {
  at::Tensor out = at::zeros({weight.size(1), columns}, weight.options());
  out.narrow(1, 0, weight.size(0)).copy_(weight.t());
  return out;
}

/// Number of gradients of the risk MLP: its two weights and two biases.
constexpr std::int64_t kRiskSums =
    kEdgeFeatures * kRiskHidden + kRiskHidden + kMaxHeads * kRiskHidden + kMaxHeads;

}  // namespace

PackedEdgeParameters::PackedEdgeParameters(const EdgeParameters& parameters, std::int64_t heads)
    : heads_(heads),
      edge_weight_(transposed(parameters.edge_weight, parameters.edge_weight.size(0))),
      risk_in_(transposed(parameters.risk_in_weight, kRiskHidden)),
      risk_in_bias_(parameters.risk_in_bias.contiguous()),
      risk_out_(transposed(parameters.risk_out_weight, kMaxHeads)),
      risk_out_bias_(transposed(parameters.risk_out_bias.unsqueeze(1), kMaxHeads)) {}

kernels::AttentionEdges PackedEdgeParameters::with(const EdgeIndex& index) const {
  const std::int64_t head_dim = edge_weight_.size(1) / heads_;
  return {.edge_ptr = index.edge_ptr.const_data_ptr<std::int32_t>(),
          .edge_src = index.edge_src.const_data_ptr<std::int32_t>(),
          .edge_features = index.edge_features.const_data_ptr<float>(),
          .heads = heads_,
          .head_dim = head_dim,
          .scale = 1.0F / std::sqrt(static_cast<float>(head_dim)),
          .edge_weight = data<float>(edge_weight_),
          .risk_in = data<float>(risk_in_),
          .risk_in_bias = data<float>(risk_in_bias_),
          .risk_out = data<float>(risk_out_),
          .risk_out_bias = data<float>(risk_out_bias_)};
}

AttentionGradients::AttentionGradients(std::int64_t groups, std::int64_t width, std::int64_t heads)
    : width_(width), heads_(heads), sums_(at::zeros({groups, kEdgeFeatures * width + kRiskSums})) {}

kernels::AttentionSums AttentionGradients::group(std::int64_t g) const {
  kernels::AttentionSums sums{};
  sums.edge_weight = data<float>(sums_) + g * sums_.size(1);
  sums.risk_in = sums.edge_weight + kEdgeFeatures * width_;
  sums.risk_in_bias = sums.risk_in + kEdgeFeatures * kRiskHidden;
  sums.risk_out = sums.risk_in_bias + kRiskHidden;
  sums.risk_out_bias = sums.risk_out + kMaxHeads * kRiskHidden;
  return sums;
}

EdgeParameters AttentionGradients::total() const {
  const auto parts =
      sums_.sum(0).split_with_sizes({kEdgeFeatures * width_, kEdgeFeatures * kRiskHidden,
                                     kRiskHidden, kMaxHeads * kRiskHidden, kMaxHeads});
  return {.edge_weight = parts[0].view({kEdgeFeatures, width_}).t().contiguous(),
          .risk_in_weight = parts[1].view({kEdgeFeatures, kRiskHidden}).t().contiguous(),
          .risk_in_bias = parts[2],
          .risk_out_weight = parts[3].view({kMaxHeads, kRiskHidden}).narrow(0, 0, heads_),
          .risk_out_bias = parts[4].narrow(0, 0, heads_)};
}

void attention_backward(const kernels::AttentionBackward& args, const EdgeIndex& index,
                        std::int64_t group, const AttentionGradients& gradients) {
  const std::int64_t first = index.group_ptr[static_cast<std::size_t>(group)];
  const std::int64_t last = index.group_ptr[static_cast<std::size_t>(group) + 1];
  Scratch scratch;
  const std::int64_t edges = args.edges.edge_ptr[last] - args.edges.edge_ptr[first];
  kernels::float_table().attention_backward(args, gradients.group(group), first, last,
                                            scratch.take<float>(edges * kMaxHeads));
}

}  // namespace traffic::model
