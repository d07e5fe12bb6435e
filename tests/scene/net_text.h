/// Small networks for tests, written as text and read like any other.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "traffic/scene/road.h"

namespace traffic::scene::testing {

/// A file in the temporary folder that is removed at the end of the test.
class TempFile {
 public:
  TempFile(const std::string& name, const std::string& content)
      : path_(std::filesystem::temp_directory_path() / (std::to_string(getpid()) + "_" + name)) {
    std::ofstream(path_, std::ios::binary) << content;
  }
  ~TempFile() {
    std::error_code error;
    std::filesystem::remove(path_, error);
  }
  TempFile(const TempFile&) = delete;
  TempFile& operator=(const TempFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

/// Straight edges along x, without lanes inside junctions.
class NetText {
 public:
  /// Lanes `<id>_0` ... of the given length that start at x; lane i lies at y = y0 + 3.2 i.
  NetText& edge(const std::string& id, int lanes, double x, double length, double y0 = 0) {
    body_ += "<edge id='" + id + "' from='p' to='q'>";
    for (int i = 0; i < lanes; ++i) {
      const std::string y = std::to_string(y0 + 3.2 * i);
      body_ += "<lane id='" + id + "_" + std::to_string(i) + "' index='" + std::to_string(i) +
               "' speed='20' length='" + std::to_string(length) + "' shape='" + std::to_string(x) +
               "," + y + " " + std::to_string(x + length) + "," + y + "'/>";
    }
    body_ += "</edge>";
    return *this;
  }
  /// @param more further attributes, e.g. "tl='t' linkIndex='0'"
  NetText& link(const std::string& from, int from_lane, const std::string& to, int to_lane,
                const std::string& more = "dir='s'") {
    body_ += "<connection from='" + from + "' to='" + to + "' fromLane='" +
             std::to_string(from_lane) + "' toLane='" + std::to_string(to_lane) + "' " + more +
             "/>";
    return *this;
  }
  /// @param requests pairs "foes response" of the links, in order
  NetText& junction(const std::string& id, const std::string& lanes,
                    const std::vector<std::pair<std::string, std::string>>& requests) {
    body_ += "<junction id='" + id + "' type='priority' incLanes='" + lanes + "'>";
    for (const auto& [foes, response] : requests)
      body_ += "<request foes='" + foes + "' response='" + response + "'/>";
    body_ += "</junction>";
    return *this;
  }
  [[nodiscard]] std::string text() const { return "<net>" + body_ + "</net>"; }
  [[nodiscard]] std::shared_ptr<const Road> road() const {
    const TempFile file("net.xml", text());
    return std::make_shared<Road>(read_road(file.path()));
  }

 private:
  std::string body_;
};

/// A main road of two lanes and a ramp of one lane, both 300 m long, meet at x = 300. Two lanes of
/// 400 m follow. The ramp leads to the right lane and gives way. Light "t" stands at the ramp.
inline NetText priority_merge() {
  NetText net;
  net.edge("main", 2, 0, 300).edge("ramp", 1, 0, 300, -10).edge("out", 2, 300, 400);
  net.link("main", 0, "out", 0).link("main", 1, "out", 1);
  net.link("ramp", 0, "out", 0, "dir='r' tl='t' linkIndex='0'");
  net.junction("j", "main_0 main_1 ramp_0", {{"100", "000"}, {"000", "000"}, {"001", "001"}});
  return net;
}

/// Three lanes of 500 m, of which the right one ends. Two lanes of 500 m follow.
inline NetText lane_drop() {
  NetText net;
  net.edge("wide", 3, 0, 500).edge("narrow", 2, 500, 500, 3.2);
  net.link("wide", 1, "narrow", 0).link("wide", 2, "narrow", 1);
  return net;
}

/// A road of two lanes with a third one of 200 m, from an on-ramp to an off-ramp.
inline NetText weaving_section() {
  NetText net;
  net.edge("up", 2, 0, 600, 3.2).edge("on", 1, 300, 300, -10).edge("weave", 3, 600, 200);
  net.edge("off", 1, 800, 300, -10).edge("down", 2, 800, 400, 3.2);
  net.link("up", 0, "weave", 1).link("up", 1, "weave", 2).link("on", 0, "weave", 0);
  net.link("weave", 0, "off", 0).link("weave", 1, "down", 0).link("weave", 2, "down", 1);
  return net;
}

inline int lane(const Road& road, const std::string& id) { return road.lane_index.at(id); }
inline int edge(const Road& road, const std::string& id) { return road.edge_index.at(id); }

/// The network of a shipped scenario, which the build makes.
inline std::filesystem::path scenario_net(const std::string& name) {
  return std::filesystem::path(TRAFFIC_SOURCE_DIR) / "configs/scenarios" / name /
         (name + ".net.xml");
}
inline std::filesystem::path merge_net() { return scenario_net("merge"); }

}  // namespace traffic::scene::testing
