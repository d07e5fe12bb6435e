// Writes and reads FileInfo, the attributes of a data set file (attributes.h).
#include "attributes.h"

#include <algorithm>
#include <cmath>

#include "attribute_io.h"

namespace traffic::data {
namespace {

void write_features(hid_t file, const std::string& prefix, const FeatureTable& table) {
  std::vector<std::string> names;
  std::vector<std::string> units;
  std::vector<float> offsets;
  std::vector<float> scales;
  std::vector<std::string> present;
  for (const auto& feature : table) {
    if (feature.present) present.push_back(feature.name);
    names.push_back(feature.name);
    units.push_back(feature.unit);
    offsets.push_back(feature.offset);
    scales.push_back(feature.scale);
  }
  write_texts(file, (prefix + "_feature_names").c_str(), names);
  write_texts(file, (prefix + "_feature_units").c_str(), units);
  const auto type = h5::file_type(Element::kF32);
  const auto space = list_space(table.size());
  write_attribute(file, (prefix + "_feature_offset").c_str(), type.get(), space.get(),
                  offsets.data());
  write_attribute(file, (prefix + "_feature_scale").c_str(), type.get(), space.get(),
                  scales.data());
  if (present.empty()) {
    throw DataError("a data set needs at least one {} feature that is present", prefix);
  }
  // The attribute is written only if a feature is missing. Recordings of simulations have all.
  if (present.size() < table.size()) {
    write_texts(file, (prefix + "_features_present").c_str(), present);
  }
}

void mark_present(const AttributeReader& reader, const std::string& prefix, FeatureTable& table) {
  const std::string name = prefix + "_features_present";
  if (!reader.has(name.c_str())) return;
  const auto present = reader.texts(name.c_str());
  for (const auto& feature : present) {
    if (std::none_of(table.begin(), table.end(),
                     [&](const Feature& f) { return f.name == feature; })) {
      throw DataError("{} names '{}', which is not in {}_feature_names; {}",
                      reader.where(name.c_str()), feature, prefix, AttributeReader::kRemedy);
    }
  }
  for (Feature& feature : table) {
    feature.present = std::find(present.begin(), present.end(), feature.name) != present.end();
  }
}

FeatureTable read_features(const AttributeReader& reader, const std::string& path,
                           const std::string& prefix) {
  const auto names = reader.texts((prefix + "_feature_names").c_str());
  const auto units = reader.texts((prefix + "_feature_units").c_str());
  const auto offsets = reader.numbers<float>((prefix + "_feature_offset").c_str(), Element::kF32);
  const auto scales = reader.numbers<float>((prefix + "_feature_scale").c_str(), Element::kF32);
  if (units.size() != names.size() || offsets.size() != names.size() ||
      scales.size() != names.size()) {
    throw DataError(
        "{}: the attributes {}_feature_names, _units, _offset and _scale have {}, {}, "
        "{} and {} entries, expected equally many; {}",
        path, prefix, names.size(), units.size(), offsets.size(), scales.size(),
        AttributeReader::kRemedy);
  }
  FeatureTable table;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!std::isfinite(offsets[i]) || !std::isfinite(scales[i]) || scales[i] <= 0) {
      throw DataError(
          "{}: feature {} has offset {} and scale {}; expected finite numbers and a "
          "positive scale; {}",
          path, names[i], offsets[i], scales[i], AttributeReader::kRemedy);
    }
    table.push_back({names[i], units[i], offsets[i], scales[i]});
  }
  mark_present(reader, prefix, table);
  return table;
}

}  // namespace

void write_attributes(hid_t file, const FileInfo& info) {
  write_text(file, "format", kFormatName);
  write_number(file, "format_version", kFormatVersion);
  write_text(file, "scenario", info.scenario);
  write_number(file, "step_length_s", info.step_length_s);
  write_number(file, "frame_interval_s", info.frame_interval_s);
  write_text(file, "program_version", info.program_version);
  write_text(file, "sumo_version", info.sumo_version);
  write_text(file, "command_line", info.command_line);
  write_text(file, "created_utc", info.created_utc);
  write_text(file, "splitting", info.splitting);
  write_texts(file, "controller_names", info.controller_names);
  write_features(file, "node", info.node_features);
  write_features(file, "edge", info.edge_features);
  write_features(file, "global", info.global_features);
  write_number(file, "content_xxh3", info.content_hash);
}

FileInfo read_attributes(hid_t file, const std::string& path) {
  const AttributeReader reader(file, path);
  reader.check_format(kFormatName, kFormatVersion, "data_prep record");
  FileInfo info;
  info.scenario = reader.text("scenario");
  info.step_length_s = reader.number<double>("step_length_s", Element::kF64);
  info.frame_interval_s = reader.number<double>("frame_interval_s", Element::kF64);
  if (!(info.step_length_s > 0 && info.frame_interval_s > 0) ||
      !std::isfinite(info.step_length_s + info.frame_interval_s)) {
    throw DataError(
        "{}: step_length_s is {} and frame_interval_s {}; expected positive numbers; {}", path,
        info.step_length_s, info.frame_interval_s, AttributeReader::kRemedy);
  }
  info.program_version = reader.text("program_version");
  info.sumo_version = reader.text("sumo_version");
  info.command_line = reader.text("command_line");
  info.created_utc = reader.text("created_utc");
  info.splitting = reader.text("splitting");
  info.controller_names = reader.texts("controller_names");
  info.node_features = read_features(reader, path, "node");
  info.edge_features = read_features(reader, path, "edge");
  info.global_features = read_features(reader, path, "global");
  if (info.edge_features.size() != kNumEdgeFeatures ||
      info.global_features.size() != kNumGlobalFeatures) {
    throw DataError("{} describes {} edge and {} global features, expected {} and {}; {}", path,
                    info.edge_features.size(), info.global_features.size(), kNumEdgeFeatures,
                    kNumGlobalFeatures, AttributeReader::kRemedy);
  }
  info.content_hash = reader.number<std::uint64_t>("content_xxh3", Element::kU64);
  return info;
}

}  // namespace traffic::data
