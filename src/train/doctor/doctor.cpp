#include "traffic/train/doctor/doctor.h"
#include "traffic/os/affinity.h"

#include <fmt/ranges.h>
#include <torch/types.h>
#include <torch/version.h>

#include <algorithm>
#include <memory>
#include <sstream>
#include <utility>

#include "doctor/communication.h"
#include "doctor/findings.h"
#include "doctor/load.h"
#include "doctor/numa.h"
#include "doctor/recordings.h"
#include "doctor/storage.h"
#include "monitor/device_choice.h"
#include "monitor/gpu.h"
#include "monitor/reading_threads.h"
#include "run/staged_files.h"
#include "run/together.h"
#include "traffic/comm/communicator.h"
#include "traffic/config/num_simulations.h"
#include "traffic/config/scenario_mix.h"
#include "traffic/config/trainings.h"
#include "traffic/core/clock.h"
#include "traffic/core/process.h"
#include "traffic/core/text.h"
#include "traffic/core/version.h"
#include "traffic/rollout/traffic/traffic_pool.h"
#include "traffic/sim/network_study.h"
#include "traffic/sim/scenario.h"
#include "traffic/sim/sumo_env.h"

namespace traffic::train {
namespace {

std::string describe_program() {
  return fmt::format("traffic_train {}{}, LibTorch {}, {}", version(),
                     find_gpus().built_with_cuda ? " with CUDA" : " without CUDA", TORCH_VERSION,
                     sim::sumo_version());
}

/// Performs the checks of a machine on all ranks, and collects their findings on rank 0.
class Examination {
 public:
  Examination(const comm::MpiSession& session, const config::Config& config, const Needs& needs)
      : session_(session),
        config_(config),
        needs_(needs),
        ranks_(comm::make_communicator(session, at::kCPU, config.comm)) {}

  std::vector<Finding> run() {
    if (is_reporter()) {
      findings_.push_back({.subject = "program", .found = describe_program()});
      findings_.push_back(examine_folder(config_));
    }
    examine_nodes();
    if (auto finding = compare_nodes(*ranks_, config_)) findings_.push_back(std::move(*finding));
    for (Finding& finding : join_ranks(
             gather(judge_numa(numa_of("/sys/devices/system/node", os::cpus_available()))))) {
      add(std::move(finding));
    }
    examine_settings();
    const at::Device device = examine_devices();
    add(measure_communication(*ranks_, session_.topology()));
    if (device.is_cuda()) add(examine_gpu_communication(session_, device, config_.comm));
    if (needs_.data) examine_data();
    if (needs_.simulations) {
      examine_simulations();
      examine_scenarios();
    }
    return std::move(findings_);
  }

 private:
  [[nodiscard]] bool is_reporter() const { return ranks_->rank() == 0; }

  void add(Finding finding) {
    if (is_reporter()) findings_.push_back(std::move(finding));
  }

  /// Collective. @return on rank 0 the finding of each rank
  std::vector<Finding> gather(const Finding& mine) {
    const auto verdicts = ranks_->gather_strings(
        fmt::format("{} {}", static_cast<int>(mine.verdict), static_cast<int>(mine.code)), 0);
    const auto texts = ranks_->gather_strings(mine.found, 0);
    std::vector<Finding> all;
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      int verdict = 0;
      int code = 0;
      std::istringstream(verdicts[rank]) >> verdict >> code;
      all.push_back({.verdict = static_cast<Verdict>(verdict),
                     .subject = mine.subject,
                     .found = texts[rank],
                     .code = static_cast<ExitCode>(code)});
    }
    return all;
  }

  /// Checks CPUs, memory and load of each node. A simulation runs on the node of the rank that uses
  /// it.
  void examine_nodes() {
    const auto& topology = session_.topology();
    const std::int64_t all_envs = needs_.simulations ? config::num_simulations(config_.rollout) : 0;
    std::int64_t envs = 0;
    for (const int rank : topology.local_ranks) {
      envs += (all_envs - rank + topology.size - 1) / topology.size;
    }
    const NodeFacts mine{.host = hostname(),
                         .cpus = os::num_cpus_available(),
                         .ranks = topology.local_size(),
                         .simulations = envs,
                         .memory_bytes = total_memory_bytes()};
    for (const Finding& finding : {judge_node(mine), judge_load(mine, look_at_load())}) {
      const auto all = gather(finding);
      for (const int leader : topology.leaders) {
        if (is_reporter()) findings_.push_back(all[static_cast<std::size_t>(leader)]);
      }
    }
  }

  void examine_settings() {
    std::string text;
    for (const auto& [name, value] : current_settings()) text += name + '=' + value + '\0';
    std::vector<Settings> of_rank;
    for (const std::string& entries : ranks_->gather_strings(text, 0)) {
      std::istringstream in(entries);
      Settings settings;
      for (std::string entry; std::getline(in, entry, '\0');) {
        add_setting(entry, settings);
      }
      of_rank.push_back(std::move(settings));
    }
    if (!is_reporter()) return;
    for (Finding& finding : judge_settings(of_rank)) findings_.push_back(std::move(finding));
  }

  /// @return the device of this rank; if a rank has no GPU, the CPU for all ranks
  at::Device examine_devices() {
    at::Device device = at::kCPU;
    Finding mine = attempt("device", [&] {
      const DeviceChoice choice = choose_device(config_.run.device, session_);
      prepare_gpu(choice.device, config_);
      device = choice.device;
      return choice.reason;
    });
    if (device.is_cuda()) {
      Finding seen;
      const Finding looked = attempt("device", [&] {
        seen = judge_gpu(look_at_gpu(device), mine.found);
        return std::string();
      });
      mine = looked.verdict == Verdict::kFailed ? looked : seen;
    }
    for (Finding& finding : join_ranks(gather(mine))) add(std::move(finding));
    const std::string apart = device.is_cuda() ? gpus_without_peer_access() : std::string();
    if (!apart.empty()) {
      add({.verdict = Verdict::kWarning,
           .subject = "device",
           .found = apart + ", so gradients go through main memory"});
    }
    const bool all =
        ranks_->all_reduce_scalar(device.is_cuda() ? 1.0 : 0.0, comm::ReduceOp::kMin) > 0.0;
    return all ? device : at::Device(at::kCPU);
  }

  /// All ranks read at the same time, as they do in training.
  void examine_data() {
    RecordingFacts facts;
    const config::Data data = with_reading_threads(config_.data, *ranks_);
    const Finding mine = attempt("data", [&] {
      facts = measure_recordings(with_staged_files(data, *ranks_), ranks_->rank(), ranks_->size());
      return std::string();
    });
    const double samples_per_s = ranks_->all_reduce_scalar(facts.samples_per_s);
    for (Finding& finding : join_ranks(gather(mine))) {
      if (finding.verdict == Verdict::kFailed) add(std::move(finding));
    }
    if (mine.verdict == Verdict::kOk) add(judge_recordings(facts, data, samples_per_s));
  }

  void examine_simulations() {
    constexpr int kPeriods = 20;
    Finding mine = attempt("simulations", [&] {
      together(*ranks_, [&] {
        for (const auto& part : config::scenario_mix(config_.env))
          sim::find_scenario(part.scenario);
      });
      const Stopwatch clock;
      rollout::TrafficPool pool(session_, config_);
      double ready_s = 0.0;
      together(*ranks_, [&] {
        const auto envs = pool.my_envs();
        for (const int env : envs)
          pool.start_episode(env, {.traffic = {.seed = static_cast<std::uint64_t>(env)}});
        take_answers(pool);
        ready_s = clock.seconds();
        for (int i = 0; i < kPeriods; ++i) {
          for (const int env : envs) pool.act(env, {});
          take_answers(pool);
        }
      });
      ready_s = ranks_->all_reduce_scalar(ready_s, comm::ReduceOp::kMax);
      pool.close();
      return fmt::format("{} simulations of {} were ready after {}", pool.num_envs(),
                         config_.env.scenario, human_duration(ready_s));
    });
    add(std::move(mine));
  }

  /// Checks the files of the scenarios. A scenario is simulated, for a short time, only if its
  /// files do not say how many vehicles depart.
  void examine_scenarios() {
    if (!is_reporter()) return;
    Finding finding = attempt("scenario", [&] {
      config::Config config = config_;
      const auto report = sim::look_at_networks(config, {.controllers = {}, .learns = true});
      std::string text = fmt::format("{}", fmt::join(report.summaries, "; "));
      for (const sim::StudyFinding& one : report.findings) text += "; " + one.text();
      sim::require_usable(report.findings);
      return text;
    });
    findings_.push_back(std::move(finding));
  }

  static void take_answers(rollout::TrafficPool& pool) {
    for (const rollout::Event& event : pool.wait_all(pool.my_envs())) {
      if (event.lost) throw WorkerError("simulation {}: {}", event.env, event.why);
    }
  }

  const comm::MpiSession& session_;
  const config::Config& config_;
  Needs needs_;
  std::unique_ptr<comm::Communicator> ranks_;
  std::vector<Finding> findings_;
};

}  // namespace

Needs needs_of(const config::Config& config) {
  Needs needs;
  for (const config::TrainingFacts* training : config::plan_of(config.run.phase)) {
    needs.simulations |= training->simulates;
    needs.data |= std::ranges::find(training->sections, "data") != training->sections.end();
  }
  return needs;
}

std::vector<Finding> examine(const comm::MpiSession& session, const config::Config& config,
                             const Needs& needs) {
  return Examination(session, config, needs).run();
}

}  // namespace traffic::train
