/// A team whose snakes a network decides for.
#pragma once

#include <torch/types.h>

#include "offpolicy/acting.h"
#include "traffic/train/offpolicy/snakes_match.h"

namespace traffic::train::offpolicy {

class NetworkTeam final : public SnakesTeam {
 public:
  explicit NetworkTeam(ActingNetwork acting) : acting_(std::move(acting)) {}

  void decide(game::Arena& arena, std::span<const SnakesSeat> seats,
              std::span<std::uint8_t> actions) override;
  [[nodiscard]] game::Player player() override;

 private:
  ActingNetwork acting_;
  torch::Tensor obs_;
};

}  // namespace traffic::train::offpolicy
