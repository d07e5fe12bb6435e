#include "train/monitor/resources.h"

#include <gmock/gmock.h>

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;

constexpr double kGiBytes = 1024.0 * 1024.0 * 1024.0;

Reading reading(double ranks_gib, double simulations_gib) {
  return {.node = {.ranks = ranks_gib * kGiBytes, .simulations = simulations_gib * kGiBytes}};
}

TEST(AddUp, CountsProcessesByTheirPrograms) {
  const NodeMemory sum = add_up({{.pid = 1, .name = "traffic_train"},
                                 {.pid = 2, .name = "rollout_worker"},
                                 {.pid = 30, .name = "sumo_env"},
                                 {.pid = 40, .name = "sumo_env"},
                                 {.pid = 500, .name = "mpirun"}},
                                [](int pid) { return std::int64_t{pid}; });
  EXPECT_EQ(sum.ranks, 501.0);
  EXPECT_EQ(sum.workers, 2.0);
  EXPECT_EQ(sum.simulations, 70.0);
  EXPECT_EQ(sum.total(), 573.0);
}

TEST(Reading, IsReadBackFromItsNumbers) {
  const Reading one{.node = {.ranks = 1, .workers = 2, .simulations = 3},
                    .gpu_allocated = 4,
                    .gpu_reserved = 5,
                    .gpu_peak = 6,
                    .gpu_busy = 0.7};
  EXPECT_EQ(Reading::from(one.numbers()).numbers(), one.numbers());
}

TEST(ResourceReader, SeesThisProcessOnTheFirstRankOfANode) {
  EXPECT_GT(ResourceReader(at::kCPU, /*first_of_node=*/true).read().node.total(), 5e6);
  EXPECT_EQ(ResourceReader(at::kCPU, /*first_of_node=*/false).read().node.total(), 0.0);
}

TEST(ResourceWatch, AddsUpNodesAndKeepsThePeakOfTheFullest) {
  ResourceWatch watch(0.0, 10.0 * kGiBytes);
  EXPECT_FALSE(watch.look({reading(3, 5), {}, reading(1, 1)}).warning.has_value());
  EXPECT_THAT(watch.figures(), AllOf(Contains(Pair("memory/total_gib", 10.0)),
                                     Contains(Pair("memory/simulations_gib", 6.0)),
                                     Not(Contains(Pair("gpu/reserved_gib", 0.0)))));
  EXPECT_EQ(watch.peak_bytes(), 8.0 * kGiBytes);
}

TEST(ResourceWatch, WarnsBeforeTheLimitOnceAndNamesTheKeyOfTheLargestPart) {
  ResourceWatch watch(10.0 * kGiBytes, 100.0 * kGiBytes);
  const auto first = watch.look({reading(3, 6.5)});
  ASSERT_TRUE(first.warning.has_value());
  EXPECT_THAT(*first.warning, AllOf(HasSubstr("memory.target_memory_gb is 10.0 GiB"),
                                    HasSubstr("lower rollout.workers")));
  EXPECT_FALSE(first.release);
  const auto over = watch.look({reading(3, 7.5)});
  EXPECT_FALSE(over.warning.has_value());
  EXPECT_TRUE(over.release);
  EXPECT_FALSE(watch.look({reading(3, 3)}).warning.has_value());
  EXPECT_THAT(watch.look({reading(9.5, 0)}).warning.value(), HasSubstr("lower data.batch_size"));
}

TEST(ResourceWatch, ShowsTheLargestOfTheGpusAndTheMeanOfTheirWork) {
  ResourceWatch watch(0.0, 10.0 * kGiBytes);
  watch.look({{.gpu_allocated = 2 * kGiBytes,
               .gpu_reserved = 3 * kGiBytes,
               .gpu_peak = 2 * kGiBytes,
               .gpu_busy = 0.9},
              {.gpu_allocated = 1 * kGiBytes,
               .gpu_reserved = 4 * kGiBytes,
               .gpu_peak = 3 * kGiBytes,
               .gpu_busy = 0.5}});
  EXPECT_THAT(
      watch.figures(),
      AllOf(Contains(Pair("gpu/allocated_gib", 2.0)), Contains(Pair("gpu/reserved_gib", 4.0)),
            Contains(Pair("gpu/peak_gib", 3.0)), Contains(Pair("gpu/busy", 0.7))));
  EXPECT_THAT(watch.shown(),
              AllOf(Contains(Pair("gpu_gib", 4.0)), Contains(Pair("gpu_busy", 0.7))));
  // Without the management library the load is unknown.
  watch.look({{.gpu_reserved = 3 * kGiBytes, .gpu_busy = -1.0}});
  EXPECT_THAT(watch.figures(), Not(Contains(Pair("gpu/busy", ::testing::_))));
}

}  // namespace
}  // namespace traffic::train
