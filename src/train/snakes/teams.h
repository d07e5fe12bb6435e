/// A team of snakes whose actions a trained network chooses.
#pragma once

#include <torch/types.h>

#include <string>
#include <utility>
#include <vector>

#include "offpolicy/acting.h"
#include "snakes/observation.h"
#include "traffic/train/snakes/match.h"

namespace traffic::train::snakes {

class NetworkTeam final : public SnakesTeam {
 public:
  NetworkTeam(offpolicy::ActingNetwork acting, Sight sight, std::string name)
      : acting_(std::move(acting)), sight_(sight), name_(std::move(name)) {}

  [[nodiscard]] std::string name() const override { return name_; }

  void decide(game::Arena& arena, std::span<const SnakesSeat> seats,
              std::span<std::uint8_t> actions) override;
  [[nodiscard]] game::Player player() override;

 private:
  offpolicy::ActingNetwork acting_;
  Sight sight_;
  std::string name_;
  torch::Tensor obs_;
  std::vector<Turn> turns_;
};

}  // namespace traffic::train::snakes
