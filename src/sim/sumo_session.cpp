// Loads, saves and closes the one simulation that libsumo can run in a process.
#include "sumo_session.h"

#include <libsumo/Simulation.h>

#include <cstdio>

#include "process_settings.h"
#include "stderr_capture.h"
#include "traffic/core/error.h"
#include "traffic/os/heap.h"

namespace traffic::sim {
namespace {

bool g_session_exists =
    false;  // libsumo has one simulation per process. Not thread-safe, like this whole module.

}  // namespace

SumoSession::SumoSession() {
  if (g_session_exists)
    throw Error(
        "this process has a simulation already, and libsumo allows only one; start another process "
        "for the second one");
  prepare_process();
  g_session_exists = true;
  os::begin_anew();
}

SumoSession::~SumoSession() {
  close();
  g_session_exists = false;
}

void SumoSession::close() noexcept {
  try {
    if (libsumo::Simulation::isLoaded()) libsumo::Simulation::close();
  } catch (const std::exception& e) {
    std::fprintf(stderr, "SUMO cannot close the simulation: %s\n", e.what());
  }
}

double SumoSession::begin_s(const std::filesystem::path& sumocfg,
                            const std::vector<std::string>& args) {
  close();
  return SumoOptions(sumocfg, args).seconds("begin").value_or(0.0);
}

void SumoSession::load(const SumoRun& run) {
  close();
  const SumoOptions options(run.sumocfg, run.args);
  if (options.is_on("mesosim")) {
    throw DataError(
        "scenario {} is simulated mesoscopically (SUMO's option mesosim): its vehicles are on no "
        "lane and cannot be commanded; leave the option out",
        run.sumocfg.string());
  }
  std::vector<std::string> command = {"sumo"};
  for (const auto& [name, value] : options_of(run, options)) {
    command.push_back("--" + name + "=" + value);
  }
  const auto files = options.files_of_arguments();
  outputs_ = {files.begin(), files.end()};
  allow_outputs(outputs_);
  stdout_.show(options.is_argument("verbose") || outputs_.contains("stdout"));
  StderrCapture capture;
  try {
    libsumo::Simulation::start(command);
  } catch (const std::exception& e) {
    const std::string text = capture.end();
    close();
    throw DataError("SUMO cannot load {}: {}", run.sumocfg.string(), reason_of(text, e));
  }
  const std::string text = capture.end();
  std::fputs(text.c_str(), stderr);
}

void SumoSession::save_state(const std::filesystem::path& file) {
  auto with_state = outputs_;
  with_state.insert(file.string());
  allow_outputs(std::move(with_state));
  libsumo::Simulation::saveState(file.string());
  allow_outputs(outputs_);
}

}  // namespace traffic::sim
