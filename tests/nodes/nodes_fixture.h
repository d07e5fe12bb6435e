/// Runs programs on several nodes, which are network namespaces of this machine with their own host
/// names (nodes.sh).
#pragma once

#include <gmock/gmock.h>

#include <set>
#include <string>

#include "hybrid_fixture.h"

namespace traffic::test {

class NodesTest : public HybridTest {
 protected:
  static inline const std::string kNodes = TRAFFIC_SOURCE_DIR "/tests/nodes/nodes.sh";
  /// Nodes with fewer ranks would give each rank more threads, which changes the order of sums
  /// within a rank.
  static inline const std::string kOneThread = " --set run.threads_per_rank=1 ";

  void SetUp() override {
    constexpr int kNotHere = 77;
    HybridTest::SetUp();
    const Outcome outcome = run_program(kNodes + " run 1 1 true");
    if (outcome.exit_code == kNotHere) GTEST_SKIP() << outcome.output;
    ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
  }

  /// The command that runs `command` on new nodes. Each node has slots for this number of ranks.
  [[nodiscard]] static std::string on_nodes(int nodes, int slots, const std::string& command) {
    return kNodes + " run " + std::to_string(nodes) + " " + std::to_string(slots) + " " + command;
  }
  /// Like on_nodes() with one slot per node, but only the first node sees the folder `folder`. Each
  /// other node has its own folder in that place.
  [[nodiscard]] std::string on_nodes_with_own(const std::string& folder, int nodes,
                                              const std::string& command) const {
    fs::create_directories(dir_ / folder);
    return "env NODES_PRIVATE=" + (dir_ / folder).string() + " " + on_nodes(nodes, 1, command);
  }
  /// Gives all nodes except the first other clocks: their steady clocks are a day ahead, if the
  /// kernel supports that, and their time of day jumps by a day at each reading.
  [[nodiscard]] static std::string with_other_clocks(const std::string& on_nodes_command) {
    const std::string ahead = fs::exists("/proc/self/ns/time") ? "NODES_CLOCK_S=86400 " : "";
    return "env " + ahead + "NODES_ENVIRONMENT='" + jumping_clock() + "' " + on_nodes_command;
  }
  [[nodiscard]] static std::string jumping_clock() {
    return "LD_PRELOAD=" TRAFFIC_BIN_DIR
           "/../lib/libtraffic_fail_io.so TRAFFIC_FAIL_IO=clock:/:1:0:1";
  }
  [[nodiscard]] std::string text(const std::string& file) const {
    std::ifstream in(dir_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  /// Provides a reference run, which all tests of the program share. The first test that needs it
  /// runs the command. The function links the finished run into the folder of each test.
  void need_run(const std::string& name, const std::string& command_on_one_node) {
    const fs::path kept = kept_runs() / name;
    if (!fs::exists(kept)) {
      const Outcome outcome = run_program(command_on_one_node);
      ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
      fs::rename(dir_ / name, kept);
    }
    fs::create_directory_symlink(kept, dir_ / name);
  }
  void expect_same_parameters(const std::string& run, const std::string& other) const {
    EXPECT_EQ(summary(run)["parameters_xxh3"], summary(other)["parameters_xxh3"]) << run;
  }
  void expect_same_phases(const std::string& run, const std::string& other) const {
    for (const std::string part : {"/phase1", "/phase2", "/phase3"}) {
      expect_same_parameters(run + part, other + part);
    }
    for (const std::string episodes : {"/phase2/episodes.csv", "/phase3/episodes.csv"}) {
      EXPECT_EQ(text(run + episodes), text(other + episodes))
          << episodes << " must be equal: traffic, outcomes and evaluations";
    }
  }

  /// Creates the folder of the reference runs before the first test. Otherwise the check for
  /// left-over files would report it as left behind by a test.
  static void SetUpTestSuite() { (void)kept_runs(); }

 private:
  /// The folder of the reference runs. It is removed when the program ends.
  static const fs::path& kept_runs() {
    struct Folder {
      fs::path path = fs::temp_directory_path() / ("nodes_test_runs_" + std::to_string(getpid()));
      Folder() { fs::create_directories(path); }
      Folder(const Folder&) = delete;
      Folder& operator=(const Folder&) = delete;
      ~Folder() { fs::remove_all(path); }
    };
    static const Folder folder;
    return folder.path;
  }
};

}  // namespace traffic::test
