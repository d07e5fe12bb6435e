#include "run/agreement.h"

#include <torch/types.h>

#include <algorithm>
#include <span>

namespace traffic::train {

Agreement agree_on(const Report& mine, comm::Communicator& communicator) {
  // `all` contains the four requests of Agreement first, and then the numbers of each rank.
  constexpr std::size_t kWishes = 4;
  constexpr std::size_t kOfRank = 1 + Reading::kNumbers;
  const auto num_ranks = static_cast<std::size_t>(communicator.size());
  std::vector<double> all(kWishes + num_ranks * kOfRank);
  const auto of_rank = [&](std::size_t rank) {
    return std::span(all).subspan(kWishes + rank * kOfRank).first<kOfRank>();
  };
  all[0] = mine.stop ? 1.0 : 0.0;
  all[1] = mine.late ? 1.0 : 0.0;
  all[2] = mine.has_given_up_saving ? 1.0 : 0.0;
  all[3] = mine.time_is_over ? 1.0 : 0.0;
  const auto place = of_rank(static_cast<std::size_t>(communicator.rank()));
  place.front() = mine.busy_s;
  std::ranges::copy(mine.reading.numbers(), place.begin() + 1);
  communicator.all_reduce(
      torch::from_blob(all.data(), {static_cast<std::int64_t>(all.size())}, torch::kDouble));
  Agreement agreement{.stop = all[0] > 0.0,
                      .late = all[1] > 0.0,
                      .time_is_over = all[3] > 0.0,
                      .has_given_up_saving = all[2] > 0.0,
                      .busy_s = {},
                      .readings = {}};
  for (std::size_t rank = 0; rank < num_ranks; ++rank) {
    agreement.busy_s.push_back(of_rank(rank).front());
    agreement.readings.push_back(Reading::from(of_rank(rank).last<Reading::kNumbers>()));
  }
  return agreement;
}

}  // namespace traffic::train
