/// DrivingNetwork, the network of a driving policy. Its inputs are an image of the vehicle's
/// surroundings from above and a status, a list of numbers about the vehicle. Its outputs are
/// plans.
///
/// A plan consists of twelve numbers: x and y of six future positions. The network works with
/// residuals: the difference between a plan and driving on at constant velocity, divided by the
/// mean size of this difference in the training data. Residuals therefore have a size near 1 at any
/// speed.
#pragma once

#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/pimpl.h>
#include <torch/types.h>

#include <cstdint>
#include <string>

#include "traffic/model/mlp.h"

namespace traffic::model {

inline constexpr std::int64_t kPlanSize = 12;

/// Sizes of the network, and the kind of its output layers (head).
struct DrivingShape {
  std::int64_t channels = 8;
  std::int64_t rows = 64;         ///< a multiple of 8
  std::int64_t columns = 96;      ///< a multiple of 8
  bool sees_image = true;         ///< false: the network ignores the image
  std::int64_t status = 0;        ///< the network reads the first `status` numbers of the status
  std::int64_t width = 96;        ///< channels of the last convolution
  std::int64_t hidden_dim = 256;  ///< width of the encoding and of the layers of the head
  /// regression: computes one plan. diffusion: changes typical plans, the anchors, into plans for
  /// the situation, and rates them. vocabulary: rates typical plans and does not change them.
  std::string head = "diffusion";
  std::int64_t modes = 20;  ///< number of typical plans
};

/// Statistics of the training data that the head needs before training. The network stores them in
/// its buffers.
struct PlanStatistics {
  torch::Tensor scale;    ///< [12] mean size of the residuals in metres
  torch::Tensor anchors;  ///< [modes, 12] residuals of the typical plans; empty for regression
};

/// K plans in metres for each vehicle, the most probable plan first.
struct DrivingPlans {
  torch::Tensor plans;          ///< [B, K, 12]
  torch::Tensor probabilities;  ///< [B, K]
};

class DrivingNetworkImpl : public torch::nn::Module {
 public:
  explicit DrivingNetworkImpl(const DrivingShape& shape);

  [[nodiscard]] const DrivingShape& shape() const { return shape_; }
  void set_statistics(const PlanStatistics& statistics);

  /// Sets the type of computation. With bfloat16 or float16, only the parts that get faster use it.
  void set_compute_type(torch::ScalarType type) { compute_type_ = type; }

  /// @param image [B, channels, rows, columns] uint8
  /// @param status [B, at least DrivingShape::status] float32
  /// @return [B, hidden_dim] float32
  torch::Tensor encode(const torch::Tensor& image, const torch::Tensor& status);

  /// The mean loss over samples.
  /// @param speed_mps [B] present speed of the vehicle
  /// @param plan [B, 12] the recorded plan in metres
  /// @param weight [B] weight of each sample; 0 for a sample that only fills up the batch
  /// @param noise [B, modes, 12] standard normal; undefined unless the head is diffusion
  /// @param noise_level [B] in [0, 1); undefined unless the head is diffusion
  torch::Tensor loss(const torch::Tensor& encoding, const torch::Tensor& speed_mps,
                     const torch::Tensor& plan, const torch::Tensor& weight,
                     const torch::Tensor& noise, const torch::Tensor& noise_level);

  /// @param count K; the head regression gives one plan only
  /// @param steps denoising steps of the head diffusion, 1 or 2
  DrivingPlans plans(const torch::Tensor& encoding, const torch::Tensor& speed_mps,
                     std::int64_t count, std::int64_t steps);

 private:
  struct Denoised {
    torch::Tensor residuals;  ///< [B, modes, 12]
    torch::Tensor logits;     ///< [B, modes]
  };

  [[nodiscard]] torch::Tensor patches(const torch::Tensor& image) const;
  torch::Tensor encode_image(const torch::Tensor& image);
  Denoised denoise(const torch::Tensor& encoding, const torch::Tensor& noisy,
                   const torch::Tensor& noise_level);
  [[nodiscard]] torch::Tensor residual_of(const torch::Tensor& plan,
                                          const torch::Tensor& speed_mps) const;
  [[nodiscard]] torch::Tensor plan_of(const torch::Tensor& residual,
                                      const torch::Tensor& speed_mps) const;

  DrivingShape shape_;
  torch::ScalarType compute_type_ = torch::kFloat;
  torch::Tensor scale_;    ///< buffer [12]
  torch::Tensor anchors_;  ///< buffer [modes, 12]
  torch::nn::Linear patch_{nullptr};
  torch::nn::Conv2d merge_{nullptr};
  torch::nn::Conv2d convolution_{nullptr};
  torch::nn::Linear image_{nullptr};
  Mlp status_{nullptr};
  torch::nn::Linear join_{nullptr};
  Mlp head_{nullptr};
  // The first layer of the head diffusion consists of the following three layers, so that the
  // encoding is multiplied only once for all anchors.
  torch::nn::Linear context_{nullptr};
  torch::nn::Linear anchor_{nullptr};
  torch::nn::Linear level_{nullptr};
};
TORCH_MODULE(DrivingNetwork);

/// Finds the centres of k groups of similar rows by k-means. The result depends on the arguments
/// only.
/// @param rows [N, D] float32 on the CPU, N >= k
/// @return [k, D]
torch::Tensor group_centres(const torch::Tensor& rows, std::int64_t k, std::uint64_t seed);

}  // namespace traffic::model
