/// How much of a step each rank takes, by how fast it is.
#pragma once

#include <vector>

#include "traffic/comm/communicator.h"

namespace traffic::train {

/// What a rank has computed alone, without waiting for data or for other ranks.
struct ComputeSpeed {
  double samples = 0.0;
  double seconds = 0.0;
};

/// In proportion to the speeds, 1 on average; equal if the fastest rank is less than a tenth faster
/// than the slowest, for that is the noise of measuring.
std::vector<double> shares_of_speeds(std::vector<double> samples_per_s);

/// The shares of all ranks, the same on each; empty if one has not computed anything. Collective.
std::vector<double> measured_shares(const ComputeSpeed& mine, comm::Communicator& communicator);

}  // namespace traffic::train
