// Sets the initial weights of networks from a seed.
#include "traffic/model/initialise.h"

#include <torch/nn.h>
#include <torch/nn/module.h>
#include <torch/types.h>
#include <torch/utils.h>

#include <cmath>
#include <string>

#include "traffic/core/hash.h"
#include "traffic/core/random.h"
#include "traffic/model/lstm.h"

namespace traffic::model {
namespace {

void fill_uniform(torch::Tensor& parameter, double bound, std::uint64_t seed) {
  Rng rng(seed);
  torch::Tensor values = torch::empty(parameter.sizes(), torch::kFloat);
  auto* out = values.data_ptr<float>();
  for (std::int64_t i = 0; i < values.numel(); ++i)
    out[i] = static_cast<float>(rng.uniform(-bound, bound));
  parameter.copy_(values);
}

/// Bound of the uniform distribution +-bound of a module's own parameter; 0 if the parameter is not
/// random.
double bound_of(const torch::nn::Module& module, const torch::Tensor& parameter) {
  if (const auto* linear = module.as<torch::nn::LinearImpl>()) {
    return 1.0 / std::sqrt(static_cast<double>(linear->options.in_features()));
  }
  if (const auto* convolution = module.as<torch::nn::Conv2dImpl>()) {
    const auto& weight = convolution->weight;
    return 1.0 / std::sqrt(static_cast<double>(weight.numel() / weight.size(0)));
  }
  if (module.as<LstmImpl>() != nullptr)
    return 1.0 / std::sqrt(static_cast<double>(parameter.size(0)) / 4.0);
  return 0.0;
}

}  // namespace

void initialise(torch::nn::Module& module, std::uint64_t seed) {
  const torch::NoGradGuard no_grad;
  for (const auto& item : module.named_modules("", /*include_self=*/true)) {
    const std::string prefix = item.key().empty() ? "" : item.key() + ".";
    for (auto& parameter : item.value()->named_parameters(/*recurse=*/false)) {
      const double bound = bound_of(*item.value(), parameter.value());
      if (bound > 0) {
        fill_uniform(parameter.value(), bound,
                     derive_seed(seed, {xxh3_64(prefix + parameter.key())}));
      } else {
        parameter.value().fill_(parameter.key() == "weight" ? 1.0 : 0.0);
      }
    }
  }
}

}  // namespace traffic::model
