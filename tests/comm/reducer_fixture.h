/// Base of tests of the gradient reducer: a model whose gradients lie in an arena (one tensor for
/// all of them), and a communicator of the backend that the test has as its parameter.
#pragma once

#include <memory>
#include <utility>

#include "backends.h"
#include "model_helper.h"

namespace traffic::comm {

class ReducerTest : public BackendTest {
 protected:
  explicit ReducerTest(torch::nn::Sequential model) : model_(std::move(model)) {}
  void SetUp() override {
    BackendTest::SetUp();
    if (HasFatalFailure()) return;
    comm_ = make_backend(GetParam());
    gradients_ = std::make_unique<GradientArena>(parameters_, *comm_);
  }

  std::unique_ptr<Communicator> comm_;
  torch::nn::Sequential model_;
  ParameterArena parameters_{named_parameters(model_)};
  std::unique_ptr<GradientArena> gradients_;
};

}  // namespace traffic::comm
