#include "train/doctor/findings.h"

#include <gmock/gmock.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <optional>

#include "train/doctor/load.h"

namespace traffic::train {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

NodeFacts roomy() {
  return {.host = "farm", .cpus = 8, .ranks = 2, .simulations = 12, .memory_bytes = 16 * kGiB};
}

TEST(JudgeNode, HasNothingToSayOfANodeWithRoom) {
  const Finding finding = judge_node(roomy());
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_EQ(finding.found, "farm: 8 CPUs and 16.0 GiB of memory for 2 ranks and 12 simulations");
}

TEST(JudgeNode, WarnsOfMoreRanksThanCpusAndOfTooLittleMemory) {
  NodeFacts crowded = roomy();
  crowded.ranks = 9;
  EXPECT_EQ(judge_node(crowded).verdict, Verdict::kWarning);
  EXPECT_THAT(judge_node(crowded).found, HasSubstr("mpirun -np"));
  NodeFacts small = roomy();
  small.memory_bytes = 3 * kGiB;  // 2 ranks of 1 GiB, 12 simulations of 100 MiB
  EXPECT_EQ(judge_node(small).verdict, Verdict::kWarning);
  EXPECT_THAT(judge_node(small).found, HasSubstr("3.2 GiB: start fewer ranks"));
}

TEST(JudgeLoad, HasNothingToSayOfAnIdleNode) {
  const LoadFacts idle{.cpus = 8, .load = 0.4, .available_bytes = 12 * kGiB};
  const Finding finding = judge_load(roomy(), idle);
  EXPECT_EQ(finding.verdict, Verdict::kOk);
  EXPECT_EQ(finding.found,
            "farm: load 0.4 on 8 processors in the last minute, 12.0 GiB of memory is free, 0 B of "
            "swap in use");
  const LoadFacts half{.cpus = 8, .load = 4.0, .available_bytes = 12 * kGiB};
  EXPECT_EQ(judge_load(roomy(), half).verdict, Verdict::kOk) << "four processors are free";
}

TEST(JudgeLoad, WarnsOfLoadByOtherProcessesAndSaysWhatToDo) {
  const LoadFacts busy{.cpus = 8, .load = 7.2, .available_bytes = 12 * kGiB};
  EXPECT_EQ(judge_load(roomy(), busy).verdict, Verdict::kWarning);
  EXPECT_THAT(judge_load(roomy(), busy).found,
              AllOf(HasSubstr("load 7.2 on 8"), HasSubstr("top"), HasSubstr("fewer ranks")));
  const LoadFacts full{.cpus = 8, .available_bytes = 2 * kGiB};
  EXPECT_EQ(judge_load(roomy(), full).verdict, Verdict::kWarning);
  EXPECT_THAT(judge_load(roomy(), full).found,
              AllOf(HasSubstr("may need 3.2 GiB"), HasSubstr("rollout.workers")));
  const LoadFacts swapping{.cpus = 8, .available_bytes = 12 * kGiB, .swap_bytes = 2 * kGiB};
  EXPECT_EQ(judge_load(roomy(), swapping).verdict, Verdict::kWarning);
  EXPECT_THAT(judge_load(roomy(), swapping).found,
              AllOf(HasSubstr("2.0 GiB of swap"), HasSubstr("swapoff -a && swapon -a")));
}

TEST(JudgeGpu, StatesFreeMemoryLoadAndTemperature) {
  const GpuFacts free{.name = "H100",
                      .total_bytes = 80 * kGiB,
                      .free_bytes = 79 * kGiB,
                      .load = GpuLoad{.busy = 0.02, .used_bytes = kGiB, .temperature_c = 41}};
  EXPECT_EQ(judge_gpu(free, "GPU 0 of 2").verdict, Verdict::kOk);
  EXPECT_EQ(judge_gpu(free, "GPU 0 of 2").found, "GPU 0 of 2: H100, 79.0 GiB free, 2 % busy, 41 C");
  GpuFacts unknown = free;
  unknown.load = std::nullopt;  // without the driver's library
  EXPECT_EQ(judge_gpu(unknown, "GPU 0").found, "GPU 0: H100, 79.0 GiB free");
}

TEST(JudgeGpu, WarnsOfOtherProcessesOnTheGpuAndOfHeat) {
  const Nvml nvml(TRAFFIC_STAND_IN_NVML);
  GpuFacts gpu{.name = "H100",
               .total_bytes = 80 * kGiB,
               .free_bytes = 79 * kGiB,
               .load = nvml.load("0000:3b:00.0")};
  EXPECT_EQ(judge_gpu(gpu, "").verdict, Verdict::kWarning);
  EXPECT_THAT(judge_gpu(gpu, "").found, AllOf(HasSubstr("87 % busy, 61 C"), HasSubstr("nvidia-smi"),
                                              Not(HasSubstr("throttles"))));
  gpu.load = GpuLoad{.busy = 0.0, .used_bytes = kGiB, .temperature_c = 91};
  EXPECT_THAT(judge_gpu(gpu, "").found, AllOf(HasSubstr("fans"), Not(HasSubstr("nvidia-smi"))));
  gpu.load = std::nullopt;
  gpu.free_bytes = 10 * kGiB;
  EXPECT_THAT(judge_gpu(gpu, "").found, HasSubstr("memory.target_vram_gb"));
}

TEST(JudgeInventories, NamesFilesThatANodeLacksOrHasInAnotherVersion) {
  const std::string text = "traffic_train\t10-a\nsumo_env\tmissing\nmerge.h5\t7-b\n";
  EXPECT_EQ(judge_inventories({{"n0", text}, {"n1", text}}).verdict, Verdict::kOk);
  const Finding finding = judge_inventories(
      {{"n0", text}, {"n1", "traffic_train\t10-c\nsumo_env\t4-d\n"}, {"n2", text + "x.h5\t1-e\n"}});
  EXPECT_EQ(finding.verdict, Verdict::kFailed);
  EXPECT_THAT(
      finding.found,
      AllOf(HasSubstr("n1 has another traffic_train than n0"), HasSubstr("n1 lacks merge.h5"),
            HasSubstr("n0 lacks x.h5, which n2 has"), Not(HasSubstr("n2 lacks"))));
}

TEST(JudgeSettings, ShowsCommonSettingsAndWarnsOfDifferentOnes) {
  const auto findings = judge_settings({{{"NCCL_DEBUG", "INFO"}, {"CUDA_VISIBLE_DEVICES", "0"}},
                                        {{"NCCL_DEBUG", "INFO"}, {"CUDA_VISIBLE_DEVICES", "1"}},
                                        {{"NCCL_DEBUG", "INFO"}, {"NCCL_P2P_DISABLE", "1"}}});
  ASSERT_EQ(findings.size(), 3U);
  EXPECT_EQ(findings[0].verdict, Verdict::kOk);  // each rank may see a GPU of its own
  EXPECT_EQ(findings[0].found, "CUDA_VISIBLE_DEVICES: 0 on rank 0, 1 on rank 1, not set on rank 2");
  EXPECT_EQ(findings[1].verdict, Verdict::kOk);
  EXPECT_EQ(findings[1].found, "NCCL_DEBUG = INFO");
  EXPECT_EQ(findings[2].verdict, Verdict::kWarning);
  EXPECT_THAT(findings[2].found, HasSubstr("1 on rank 2, not set on ranks 0, 1; give all ranks"));
}

TEST(JudgeSettings, NamesTheKnownVariablesIfNoneIsSet) {
  const auto findings = judge_settings({{}, {}});
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].verdict, Verdict::kOk);
  EXPECT_THAT(findings[0].found, HasSubstr("NCCL_*, CUDA_*"));
}

TEST(CurrentSettings, AreTheVariablesThatLibrariesRead) {
  setenv("NCCL_DOCTOR_TEST", "a=b", 1);
  setenv("DOCTOR_TEST", "x", 1);
  const Settings settings = current_settings();
  EXPECT_EQ(settings.at("NCCL_DOCTOR_TEST"), "a=b");
  EXPECT_FALSE(settings.contains("DOCTOR_TEST"));
  unsetenv("NCCL_DOCTOR_TEST");
  unsetenv("DOCTOR_TEST");
}

TEST(JoinRanks, ReportsAFindingOnceIfAllRanksShareIt) {
  const Finding gpu{.subject = "device", .found = "a GPU"};
  const Finding none{.verdict = Verdict::kFailed,
                     .subject = "device",
                     .found = "none",
                     .code = ExitCode::kResources};
  const auto joined = join_ranks({gpu, none, gpu});
  ASSERT_EQ(joined.size(), 2U);
  EXPECT_EQ(joined[0].found, "ranks 0, 2: a GPU");
  EXPECT_EQ(joined[1].found, "rank 1: none");
  EXPECT_EQ(exit_code(joined), ExitCode::kResources);
  EXPECT_EQ(exit_code(join_ranks({gpu})), ExitCode::kDone);
}

TEST(Findings, AreWrittenAsTextAndAsJson) {
  const std::vector<Finding> findings{{.subject = "node", .found = "fine"},
                                      {.verdict = Verdict::kFailed,
                                       .subject = "simulations",
                                       .found = "no scenario",
                                       .code = ExitCode::kData}};
  const std::string text = to_text(findings);
  EXPECT_THAT(text, HasSubstr("ok       node"));
  EXPECT_THAT(text, HasSubstr("FAILED   simulations"));
  EXPECT_THAT(text, HasSubstr("1 ok, 0 warnings, 1 failed\n"));
  const auto json = nlohmann::json::parse(to_json(findings));
  ASSERT_EQ(json.size(), 2U);
  EXPECT_EQ(json[0]["exit_code"], 0);
  EXPECT_EQ(json[1]["subject"], "simulations");
  EXPECT_EQ(json[1]["exit_code"], 3);
}

}  // namespace
}  // namespace traffic::train
