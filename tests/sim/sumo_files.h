/// A temporary folder in which a test writes its own scenario.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace traffic::sim::testing {

class ScenarioFolder {
 public:
  ScenarioFolder() {
    std::string name = (std::filesystem::temp_directory_path() / "scenario-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("mkdtemp failed");
    path_ = name;
  }
  ~ScenarioFolder() {
    std::error_code error;
    std::filesystem::remove_all(path_, error);
  }
  ScenarioFolder(const ScenarioFolder&) = delete;
  ScenarioFolder& operator=(const ScenarioFolder&) = delete;

  void write(const std::string& file, const std::string& text) const {
    std::ofstream(path_ / file) << text;
  }
  [[nodiscard]] std::string read(const std::string& file) const {
    std::ifstream in(path_ / file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  [[nodiscard]] std::string path(const std::string& file) const { return (path_ / file).string(); }
  /// Writes s.rou.xml, and s.sumocfg, which names net.net.xml and s.rou.xml.
  /// @param processing further options as XML
  /// @return path of the .sumocfg
  [[nodiscard]] std::string config(const std::string& routes, int end_s,
                                   const std::string& processing = "") const {
    write("s.rou.xml", "<routes>" + routes + "</routes>");
    write("s.sumocfg",
          "<configuration><input><net-file value='net.net.xml'/><route-files value='s.rou.xml'/>"
          "</input><time><end value='" +
              std::to_string(end_s) +
              "'/></time><processing>"
              "<time-to-teleport value='-1'/>" +
              processing + "</processing></configuration>");
    return (path_ / "s.sumocfg").string();
  }
  /// Builds net.net.xml from nodes, edges and connections.
  /// @param options further options of netconvert
  void build_network(const std::string& nodes, const std::string& edges,
                     const std::string& connections = "", const std::string& options = "") const {
    write("n.nod.xml", "<nodes>" + nodes + "</nodes>");
    write("e.edg.xml", "<edges>" + edges + "</edges>");
    write("c.con.xml", "<connections>" + connections + "</connections>");
    const std::string at = path_.string() + "/";
    const std::string command = std::string(TRAFFIC_NETCONVERT) + " -n " + at + "n.nod.xml -e " +
                                at + "e.edg.xml -x " + at + "c.con.xml -o " + at +
                                "net.net.xml --xml-validation never " + options +
                                " >/dev/null 2>&1";
    if (std::system(command.c_str()) != 0) throw std::runtime_error("netconvert failed");
  }
  void use_merge_network() const { use_network_of("merge"); }
  /// Copies the network of a shipped scenario to net.net.xml.
  void use_network_of(const std::string& scenario) const {
    const auto folder = std::filesystem::path(TRAFFIC_SOURCE_DIR) / "configs/scenarios" / scenario;
    std::filesystem::copy_file(folder / (scenario + ".net.xml"), path_ / "net.net.xml");
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace traffic::sim::testing
