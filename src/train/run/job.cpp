#include "traffic/train/run/job.h"

#include <spdlog/spdlog.h>
#include <torch/version.h>

#include <fstream>
#include <vector>

#include "monitor/device_choice.h"
#include "monitor/gpu.h"
#include "run/folder_choice.h"
#include "run/node_files.h"
#include "run/seed_overlap.h"
#include "traffic/config/write.h"
#include "traffic/core/atomic_file.h"
#include "traffic/core/hash.h"
#include "traffic/core/process.h"
#include "traffic/core/version.h"
#include "traffic/report/logging.h"

namespace traffic::train {
namespace {

namespace fs = std::filesystem;

std::uint64_t hash_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  Hasher hasher;
  std::vector<char> block(std::size_t{1} << 20U);
  while (in.read(block.data(), static_cast<std::streamsize>(block.size())), in.gcount() > 0) {
    hasher.update(std::string_view(block.data(), static_cast<std::size_t>(in.gcount())));
  }
  return hasher.digest();
}

/// Checks that all ranks have the same program and configuration, so that they compute the same
/// results.
void check_same_program(const config::Plan& plan, comm::Communicator& communicator) {
  config::Plan shared = plan;
  shared.whole.run.dir.clear();  // may be spelt differently on another node
  for (config::Config& phase : shared.phases) phase.run.dir.clear();
  communicator.all_agree(xxh3_64(config::to_toml(shared)), "the configuration");
  communicator.all_agree(hash_of_file("/proc/self/exe"), "the program (its binary)");
}

report::Environment environment_of(const comm::Communicator& communicator) {
  report::Environment environment;
  environment.program = "traffic_train";
  environment.version = version();
  environment.build_type = build_type();
  environment.compiler = __VERSION__;
  environment.command_line = command_line();
  environment.world_size = communicator.size();
  environment.libraries = {{"torch", TORCH_VERSION}};
  for (int i = 0; i < find_gpus().count; ++i) {
    const auto index = static_cast<c10::DeviceIndex>(i);
    environment.gpus.push_back(describe_gpu(at::Device(at::kCUDA, index)));
  }
  return environment;
}

}  // namespace

Job::Job(const config::Plan& plan, const comm::MpiSession& session)
    : config_(plan.whole), session_(session) {
  const DeviceChoice choice = choose_device(config_.run.device, session);
  prepare_gpu(choice.device, config_);
  communicator_ = comm::make_communicator(session, choice.device, config_.comm);
  check_same_program(plan, *communicator_);
  std::string dir;
  if (is_reporter()) dir = choose_run_dir(plan).string();
  folder_ = report::RunFolder(communicator_->broadcast_string(dir, 0));
  open_folder(plan);
  log_device(choice.reason);
}

void Job::log_device(const std::string& reason) const {
  spdlog::info("device {} ({})", communicator_->device().str(), reason);
  if (!communicator_->device().is_cuda()) return;
  spdlog::info("GPU: {}", describe_gpu(communicator_->device()));
  for (const std::string& setting : environment_settings("NCCL_")) spdlog::info("{}", setting);
}

void Job::open_folder(const config::Plan& plan) {
  if (is_reporter()) {
    create_folder(folder_.logs());
    lock_ = std::make_unique<checkpoint::RunLock>(folder_.root());
    remove_stale_temporaries(folder_.root());
    write_file_atomically(folder_.config(), run_identity(plan));
    report::write_environment(folder_, environment_of(*communicator_));
  }
  communicator_->barrier();  // the folder exists from here on
  const FolderView view = open_on_nodes(*communicator_, folder_.logs());
  all_see_folder_ = view.all_see;
  sees_folder_ = view.seen;
  report::LogOptions log;
  log.dir = folder_.logs();
  log.rank = communicator_->rank();
  log.world_size = communicator_->size();
  log.level = config_.log.level;
  report::init_logging(log);
  spdlog::info("run folder {}, {} ranks on {} nodes", folder_.root().string(),
               communicator_->size(), communicator_->topology().num_nodes());
  if (!view.note.empty()) spdlog::warn("{}", view.note);
  if (is_reporter()) {
    for (const std::string& warning : find_seed_overlaps(plan)) spdlog::warn("{}", warning);
  }
  if (lock_ && !lock_->taken_over_from().empty()) {
    spdlog::warn("the previous run in this folder ended without releasing its lock ({})",
                 lock_->taken_over_from());
  }
}

}  // namespace traffic::train
