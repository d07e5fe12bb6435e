#include "world_model/rank_shares.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <numeric>

namespace traffic::train {

std::vector<double> shares_of_speeds(std::vector<double> samples_per_s) {
  constexpr double kNoise = 1.1;  // smaller ratios of speeds are measurement noise
  std::vector<double>& shares = samples_per_s;
  const auto [slowest, fastest] = std::minmax_element(shares.begin(), shares.end());
  if (*fastest < kNoise * *slowest) return std::vector<double>(shares.size(), 1.0);
  const double mean =
      std::accumulate(shares.begin(), shares.end(), 0.0) / static_cast<double>(shares.size());
  for (double& share : shares) share /= mean;
  return shares;
}

std::vector<double> measured_shares(const ComputeSpeed& mine, comm::Communicator& communicator) {
  const double speed = mine.samples > 0 && mine.seconds > 0 ? mine.samples / mine.seconds : 0.0;
  const at::Tensor all = communicator.all_gather(at::full({1}, speed, at::kDouble)).view({-1});
  std::vector<double> speeds(all.data_ptr<double>(), all.data_ptr<double>() + all.numel());
  if (*std::min_element(speeds.begin(), speeds.end()) <= 0) return {};
  return shares_of_speeds(std::move(speeds));
}

}  // namespace traffic::train
