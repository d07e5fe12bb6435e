/// Divides the samples of a step among the ranks according to their speed.
#pragma once

#include <vector>

#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Work that a rank has done by itself, without waiting for data or for other ranks.
struct ComputeSpeed {
  double samples = 0.0;
  double seconds = 0.0;
};

/// Shares in proportion to the speeds, 1 on average. They are equal if the fastest rank is less
/// than a tenth faster than the slowest, because such differences are measurement noise.
std::vector<double> shares_of_speeds(std::vector<double> samples_per_s);

/// The shares of all ranks, the same on each; empty if a rank has not computed anything yet.
/// Collective.
std::vector<double> measured_shares(const ComputeSpeed& mine, comm::Communicator& communicator);

}  // namespace traffic::train
