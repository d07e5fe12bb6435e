#include "sumo_session.h"

#include <libsumo/Simulation.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <iostream>

#include "traffic/core/error.h"
#include "traffic/os/heap.h"
#include "traffic/os/shared_memory.h"

namespace traffic::sim {
namespace {

bool g_session_exists = false;  // libsumo is static; not thread-safe, as the whole module

/// Keeps what is written to stderr while it lives: SUMO prints the reason of a failed load there
/// and throws only "Process Error".
class StderrCapture {
 public:
  StderrCapture()
      : saved_(dup(STDERR_FILENO)),
        memory_(os::create_memory_file("sumo-stderr", 0, os::Allocation::kSparse)) {
    if (saved_.is_open()) dup2(memory_.get(), STDERR_FILENO);
  }
  ~StderrCapture() { restore(); }
  StderrCapture(const StderrCapture&) = delete;
  StderrCapture& operator=(const StderrCapture&) = delete;

  /// Ends the capture. @return what was written
  std::string restore() {
    if (!saved_.is_open()) return {};
    std::cerr.flush();
    std::fflush(stderr);
    dup2(saved_.get(), STDERR_FILENO);
    saved_.reset();
    std::string text;
    char buffer[4096];
    ssize_t n = 0;
    while ((n = pread(memory_.get(), buffer, sizeof buffer, static_cast<off_t>(text.size()))) > 0)
      text.append(buffer, static_cast<std::size_t>(n));
    return text;
  }

 private:
  os::Descriptor saved_;
  os::Descriptor memory_;
};

/// SUMO's messages on one line, without its prefix.
std::string one_line(std::string text) {
  for (std::size_t at = 0; (at = text.find("Error: ", at)) != std::string::npos;) text.erase(at, 7);
  std::replace(text.begin(), text.end(), '\n', ' ');
  const auto is_space = [](char c) { return c == ' '; };
  text.erase(std::unique(text.begin(), text.end(),
                         [&](char a, char b) { return is_space(a) && is_space(b); }),
             text.end());
  while (!text.empty() && is_space(text.back())) text.pop_back();
  return text;
}

/// SUMO's projections are defined in a file of its own that it does not find by itself. What the
/// user has set stays.
void name_projection_data() {
  const char* names[] = {"PROJ_DATA", "PROJ_LIB"};
  for (const char* name : names) {
    if (std::getenv(name) != nullptr) return;
  }
  std::error_code ignored;
  if (!std::filesystem::exists(std::filesystem::path(TRAFFIC_PROJ_DIR) / "proj.db", ignored))
    return;
  for (const char* name : names) setenv(name, TRAFFIC_PROJ_DIR, /*overwrite=*/0);
}

}  // namespace

SumoSession::SumoSession() {
  if (g_session_exists)
    throw Error("a second simulation in this process: libsumo allows one, start a process for it");
  name_projection_data();
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
    std::fprintf(stderr, "closing the simulation: %s\n", e.what());
  }
}

void SumoSession::load(const std::filesystem::path& sumocfg, std::uint64_t seed,
                       const std::vector<std::string>& args) {
  std::vector<std::string> all = {"-c", sumocfg.string()};
  all.insert(all.end(), args.begin(), args.end());
  // SUMO's seeds are 31 bits.
  const std::vector<std::string> fixed = {"--seed",
                                          std::to_string(seed & 0x7fffffffU),
                                          "--random",
                                          "false",
                                          "--no-step-log",
                                          "true",
                                          "--no-warnings",
                                          "true",
                                          "--duration-log.disable",
                                          "true",
                                          "--xml-validation",
                                          "never"};
  all.insert(all.end(), fixed.begin(), fixed.end());
  StderrCapture capture;
  try {
    if (libsumo::Simulation::isLoaded()) {
      libsumo::Simulation::load(all);
    } else {
      all.insert(all.begin(), "sumo");
      libsumo::Simulation::start(all);
    }
  } catch (const std::exception& e) {
    const std::string text = one_line(capture.restore());
    close();
    throw DataError("SUMO cannot load {}: {}", sumocfg.string(), text.empty() ? e.what() : text);
  }
  const std::string text = capture.restore();
  std::fputs(text.c_str(), stderr);
}

}  // namespace traffic::sim
