// Makes a test program fail if a test leaves a process, shared memory or a temporary file behind.
// It is linked into fault tests (label fault). The test program adopts orphaned processes and has
// its own folder for temporary files, so it does not count those of other tests that run at the
// same time.
#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace traffic::test {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

constexpr int kPatience_s = 20;  // processes that are about to end may need this long on a busy
                                 // machine
constexpr const char* kSharedMemory = "/dev/shm";

std::string read_file(const fs::path& path) {
  const std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();  // throws no exception if the process ends meanwhile
  return text.str();
}

Names names_in(const fs::path& folder) {
  Names names;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    names.insert(entry.path().filename().string());
  }
  return names;
}

Names without(Names names, const Names& others) {
  for (const std::string& name : others) names.erase(name);
  return names;
}

std::vector<fs::path> processes() {
  std::vector<fs::path> found;
  for (const std::string& name : names_in("/proc")) {
    if (name.find_first_not_of("0123456789") == std::string::npos) found.push_back("/proc/" + name);
  }
  return found;
}

/// Running children of this process; those that have ended are reaped.
Names running_children() {
  Names running;
  for (const fs::path& process : processes()) {
    const std::string stat = read_file(process / "stat");
    const auto behind_name = stat.rfind(')');
    if (behind_name == std::string::npos) continue;  // the process has ended
    std::istringstream fields(stat.substr(behind_name + 1));
    char state = 0;
    pid_t parent = 0;
    fields >> state >> parent;
    if (parent != getpid()) continue;
    const pid_t pid = std::stoi(process.filename().string());
    if (state == 'Z') {
      waitpid(pid, nullptr, WNOHANG);
    } else {
      running.insert(stat.substr(0, behind_name + 1));  // "1234 (sumo_env)"
    }
  }
  return running;
}

/// Those of the given files in /dev/shm that no process has mapped.
Names unused(Names files) {
  for (const fs::path& process : processes()) {
    if (files.empty()) break;
    const std::string maps = read_file(process / "maps");
    std::erase_if(files, [&](const std::string& file) {
      return maps.find(std::string(kSharedMemory) + "/" + file + "\n") != std::string::npos;
    });
  }
  return files;
}

class Leftovers : public ::testing::EmptyTestEventListener {
 public:
  Leftovers() {
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    std::string folder =
        (fs::temp_directory_path() / "t.XXXXXX").string();  // short, because paths of
                                                            // sockets are limited
    if (mkdtemp(folder.data()) == nullptr) std::abort();
    setenv("TMPDIR", folder.c_str(), 1);
    folder_ = folder;
  }

  void OnTestStart(const ::testing::TestInfo& /*info*/) override {
    shared_ = names_in(kSharedMemory);
    files_ = names_in(folder_);
  }

  void OnTestEnd(const ::testing::TestInfo& /*info*/) override {
    // An mpirun that was itself killed leaves its folder behind (docs/reference/faults.md).
    for (const std::string& name : names_in(folder_)) {
      if (name.starts_with("ompi.")) fs::remove_all(folder_ / name);
    }
    Names processes, files, shared;
    for (int i = 0; i < 10 * kPatience_s; ++i) {
      processes = running_children();
      files = without(names_in(folder_), files_);
      shared = unused(without(names_in(kSharedMemory), shared_));
      if (processes.empty() && files.empty() && shared.empty()) return;
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    }
    EXPECT_EQ(processes, Names()) << "the test left processes behind";
    EXPECT_EQ(files, Names()) << "the test left temporary files in " << folder_;
    EXPECT_EQ(shared, Names()) << "the test left shared memory in " << kSharedMemory;
  }

  void OnTestProgramEnd(const ::testing::UnitTest& /*all*/) override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }

 private:
  fs::path folder_;
  Names files_;
  Names shared_;
};

// GoogleTest takes ownership of the listener.
const bool kIsListening = [] {
  ::testing::UnitTest::GetInstance()->listeners().Append(new Leftovers);
  return true;
}();

}  // namespace
}  // namespace traffic::test
