#include "train/run/start_report.h"

#include <gtest/gtest.h>
#include <torch/types.h>

namespace traffic::train {
namespace {

TEST(ParametersText, AddsUpNetworksByTheirNames) {
  const comm::ParameterArena parameters({{"encoder.layer.weight", torch::zeros({100, 100})},
                                         {"encoder.layer.bias", torch::zeros({100})},
                                         {"world_model.head", torch::zeros({3})}});
  EXPECT_EQ(parameters_text(parameters),
            "10.1 k parameters are trained: encoder 10.1 k, world_model 3");
}

TEST(MemoryText, StatesPresentAndEstimatedMemoryAndTheLimit) {
  constexpr double kUnit = 1024.0 * 1024.0 * 1024.0;
  EXPECT_EQ(memory_text({.now = kUnit, .later = 1.5 * kUnit, .allowed = 10 * kUnit}),
            "main memory: 1.0 GiB now, an estimated 1.5 GiB during training, limit 10.0 GiB");
}

}  // namespace
}  // namespace traffic::train
