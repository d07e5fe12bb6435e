// The columns and attributes of files of recorded scenes (scene_columns.h).
#include "scene_columns.h"

#include <array>
#include <cmath>

#include "attribute_io.h"
#include "column_reader.h"

namespace traffic::data {
namespace {

using E = Element;

constexpr int kFewRows = 256;
constexpr int kRowsOfMaps = 4096;
constexpr int kRowsOfScenes = 8192;

constexpr ColumnLayout scalar(const char* group, const char* name, Element element, int rows) {
  return {group, name, element, false, 1, 1, rows};
}
constexpr ColumnLayout pair(const char* group, const char* name, int rows) {
  return {group, name, E::kF32, false, 2, 2, rows};
}

constexpr std::array<ColumnLayout, kNumSceneFields> kSceneColumns{{
    scalar("strings", "bytes", E::kU8, 16384),
    scalar("strings", "ptr", E::kI64, kRowsOfMaps),
    scalar("maps", "name", E::kI32, kFewRows),
    scalar("maps", "lane_ptr", E::kI64, kFewRows),
    scalar("maps", "edge_ptr", E::kI64, kFewRows),
    scalar("maps", "link_ptr", E::kI64, kFewRows),
    scalar("maps", "signal_ptr", E::kI64, kFewRows),
    scalar("lanes", "name", E::kI32, kRowsOfMaps),
    scalar("lanes", "point_ptr", E::kI64, kRowsOfMaps),
    scalar("lanes", "edge", E::kI32, kRowsOfMaps),
    scalar("lanes", "kind", E::kU8, kRowsOfMaps),
    scalar("lanes", "width_m", E::kF32, kRowsOfMaps),
    scalar("lanes", "speed_limit_mps", E::kF32, kRowsOfMaps),
    pair("points", "xy_m", kRowsOfMaps),
    scalar("edges", "name", E::kI32, kRowsOfMaps),
    scalar("links", "from_lane", E::kI32, kRowsOfMaps),
    scalar("links", "to_lane", E::kI32, kRowsOfMaps),
    scalar("links", "connector", E::kI32, kRowsOfMaps),
    scalar("links", "signal", E::kI32, kRowsOfMaps),
    scalar("signals", "light", E::kI32, kFewRows),
    scalar("signals", "index", E::kI32, kFewRows),
    scalar("episodes", "seed", E::kU64, kFewRows),
    scalar("episodes", "split", E::kU8, kFewRows),
    scalar("episodes", "demand_scale", E::kF64, kFewRows),
    scalar("episodes", "map", E::kI32, kFewRows),
    scalar("episodes", "frame_ptr", E::kI64, kFewRows),
    scalar("episodes", "vehicle_ptr", E::kI64, kFewRows),
    scalar("episodes", "route_ptr", E::kI64, kFewRows),
    scalar("vehicles", "type", E::kI32, kRowsOfMaps),
    scalar("vehicles", "length_m", E::kF32, kRowsOfMaps),
    scalar("vehicles", "width_m", E::kF32, kRowsOfMaps),
    scalar("routes", "edge_ptr", E::kI64, kRowsOfMaps),
    scalar("routes", "edge", E::kI32, kRowsOfScenes),
    scalar("frames", "time_s", E::kF64, kRowsOfMaps),
    scalar("frames", "node_ptr", E::kI64, kRowsOfMaps),
    scalar("frames", "signals", E::kU8, 65536),
    scalar("nodes", "vehicle", E::kI32, kRowsOfScenes),
    pair("nodes", "xy_m", kRowsOfScenes),
    scalar("nodes", "heading_rad", E::kF32, kRowsOfScenes),
    scalar("nodes", "speed_mps", E::kF32, kRowsOfScenes),
    scalar("nodes", "lane", E::kI32, kRowsOfScenes),
    scalar("nodes", "route", E::kI32, kRowsOfScenes),
}};

}  // namespace

std::span<const ColumnLayout, kNumSceneFields> scene_columns() { return kSceneColumns; }

void write_scene_attributes(hid_t file, const SceneFileInfo& info) {
  write_text(file, "format", kSceneFormatName);
  write_number(file, "format_version", kSceneFormatVersion);
  write_number(file, "frame_interval_s", driving::kFrame_s);
  write_text(file, "scenario", info.scenario);
  write_text(file, "source", info.source);
  write_text(file, "program_version", info.program_version);
  write_text(file, "command_line", info.command_line);
  write_text(file, "created_utc", info.created_utc);
  write_text(file, "splitting", info.splitting);
  write_number(file, "content_xxh3", info.content_hash);
}

SceneFileInfo read_scene_attributes(hid_t file, const std::string& path) {
  const AttributeReader reader(file, path);
  reader.check_format(kSceneFormatName, kSceneFormatVersion, "data_prep record --scenes");
  const auto interval_s = reader.number<double>("frame_interval_s", Element::kF64);
  if (interval_s != driving::kFrame_s) {
    throw DataError("{} is {} s, expected {} s; {}", reader.where("frame_interval_s"), interval_s,
                    driving::kFrame_s, AttributeReader::kRemedy);
  }
  SceneFileInfo info;
  info.scenario = reader.text("scenario");
  info.source = reader.text("source");
  info.program_version = reader.text("program_version");
  info.command_line = reader.text("command_line");
  info.created_utc = reader.text("created_utc");
  info.splitting = reader.text("splitting");
  info.content_hash = reader.number<std::uint64_t>("content_xxh3", Element::kU64);
  return info;
}

std::string format_of(const std::string& path) {
  const h5::File file = open_data_file(path);
  const AttributeReader reader(file.get(), path);
  if (!reader.has("format")) {
    throw DataError(
        "{} is an HDF5 file but not a traffic data set (no attribute 'format'); data_prep record "
        "makes one",
        path);
  }
  return reader.text("format");
}

}  // namespace traffic::data
