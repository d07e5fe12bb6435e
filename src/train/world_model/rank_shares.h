/// From the measured speeds of the ranks, computes the share of the samples that each rank gets
/// (data.shard_weights = "measured").
#pragma once

#include <vector>

#include "traffic/comm/communicator.h"

namespace traffic::train {

/// Samples that a rank has processed, and the time for computing them. The time does not include
/// waiting for data or for other ranks.
struct ComputeSpeed {
  double samples = 0.0;
  double seconds = 0.0;
};

/// Shares in proportion to the speeds, with a mean of 1. If the fastest rank is less than a tenth
/// faster than the slowest, all shares are equal, because such differences are measurement noise.
std::vector<double> shares_of_speeds(std::vector<double> samples_per_s);

/// The shares of all ranks; every rank gets the same list. The list is empty if a rank has not
/// computed anything yet. Collective.
std::vector<double> measured_shares(const ComputeSpeed& mine, comm::Communicator& communicator);

}  // namespace traffic::train
