#include "attributes.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace traffic::data {
namespace {

constexpr std::size_t kMaxStringBytes = 65536;
constexpr hsize_t kMaxListLength = 4096;

// ---- writing ----------------------------------------------------------------------------------

h5::Datatype string_type(std::size_t bytes) {
  h5::Datatype type(h5::check(H5Tcopy(H5T_C_S1), "string type"));
  h5::check(H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1)), "string type");
  h5::check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "string type");
  h5::check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "string type");
  return type;
}

void write_attribute(hid_t file, const char* name, hid_t type, hid_t space, const void* value) {
  const std::string what = fmt::format("write attribute {}", name);
  const h5::Attribute attribute(
      h5::check(H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT), what));
  h5::check(H5Awrite(attribute.get(), type, value), what);
}

h5::Dataspace scalar_space() {
  return h5::Dataspace(h5::check(H5Screate(H5S_SCALAR), "data space"));
}

h5::Dataspace list_space(hsize_t length) {
  return h5::Dataspace(h5::check(H5Screate_simple(1, &length, nullptr), "data space"));
}

void write_text(hid_t file, const char* name, std::string_view text) {
  // HDF5 limits attributes to 64 KiB, but command lines may be longer.
  text = text.substr(0, kMaxStringBytes / 2);
  const std::string value(text.empty() ? std::string(1, '\0') : std::string(text));
  write_attribute(file, name, string_type(value.size()).get(), scalar_space().get(), value.data());
}

void write_texts(hid_t file, const char* name, const std::vector<std::string>& texts) {
  std::size_t width = 1;
  for (const auto& text : texts) width = std::max(width, text.size());
  std::string packed(width * texts.size(), '\0');
  for (std::size_t i = 0; i < texts.size(); ++i)
    packed.replace(i * width, texts[i].size(), texts[i]);
  write_attribute(file, name, string_type(width).get(), list_space(texts.size()).get(),
                  packed.data());
}

template <typename T>
void write_number(hid_t file, const char* name, Element element, T value) {
  write_attribute(file, name, h5::file_type(element).get(), scalar_space().get(), &value);
}

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
  // Files of simulations have all features and not this attribute.
  if (present.size() < table.size()) {
    write_texts(file, (prefix + "_features_present").c_str(), present);
  }
}

// ---- reading ----------------------------------------------------------------------------------

/// Reads the attributes of one file; its errors name the attribute.
class AttributeReader {
 public:
  AttributeReader(hid_t file, const std::string& path) : file_(file), path_(path) {}

  [[nodiscard]] bool has(const char* name) const { return H5Aexists(file_, name) > 0; }

  template <typename T>
  [[nodiscard]] T number(const char* name, Element element) const {
    return numbers<T>(name, element, true).at(0);
  }

  template <typename T>
  [[nodiscard]] std::vector<T> numbers(const char* name, Element element,
                                       bool scalar = false) const {
    const auto attribute = open(name);
    const h5::Datatype type(h5::check(H5Aget_type(attribute.get()), where(name)));
    const auto expected = h5::file_type(element);
    if (H5Tequal(type.get(), expected.get()) <= 0) {
      throw DataError("{} is not of type {}; {}", where(name), to_string(element), kRemedy);
    }
    std::vector<T> values(length(attribute, name, scalar));
    h5::check(H5Aread(attribute.get(), expected.get(), values.data()), where(name));
    return values;
  }

  [[nodiscard]] std::string text(const char* name) const { return texts(name, true).at(0); }

  [[nodiscard]] std::vector<std::string> texts(const char* name, bool scalar = false) const {
    const auto attribute = open(name);
    const h5::Datatype type(h5::check(H5Aget_type(attribute.get()), where(name)));
    if (H5Tget_class(type.get()) != H5T_STRING || H5Tis_variable_str(type.get()) != 0) {
      throw DataError("{} is not a string of fixed length; {}", where(name), kRemedy);
    }
    const std::size_t width = H5Tget_size(type.get());
    if (width == 0 || width > kMaxStringBytes) {
      throw DataError("{} has strings of {} bytes, at most {} are allowed; {}", where(name), width,
                      kMaxStringBytes, kRemedy);
    }
    const std::size_t count = length(attribute, name, scalar);
    std::string packed(width * count, '\0');
    h5::check(H5Aread(attribute.get(), type.get(), packed.data()), where(name));
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < count; ++i) {
      const std::string item = packed.substr(i * width, width);
      texts.push_back(item.substr(0, item.find('\0')));
    }
    return texts;
  }

  [[nodiscard]] FeatureTable features(const std::string& prefix) const {
    const auto names = texts((prefix + "_feature_names").c_str());
    const auto units = texts((prefix + "_feature_units").c_str());
    const auto offsets = numbers<float>((prefix + "_feature_offset").c_str(), Element::kF32);
    const auto scales = numbers<float>((prefix + "_feature_scale").c_str(), Element::kF32);
    if (units.size() != names.size() || offsets.size() != names.size() ||
        scales.size() != names.size()) {
      throw DataError(
          "{}: the attributes {}_feature_names, _units, _offset and _scale have {}, {}, "
          "{} and {} entries and should have equally many; {}",
          path_, prefix, names.size(), units.size(), offsets.size(), scales.size(), kRemedy);
    }
    FeatureTable table;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!std::isfinite(offsets[i]) || !std::isfinite(scales[i]) || scales[i] <= 0) {
        throw DataError(
            "{}: feature {} has offset {} and scale {}; expected finite numbers and a "
            "positive scale; {}",
            path_, names[i], offsets[i], scales[i], kRemedy);
      }
      table.push_back({names[i], units[i], offsets[i], scales[i]});
    }
    mark_present(prefix, table);
    return table;
  }

  static constexpr std::string_view kRemedy = "make the file again with data_prep";

 private:
  void mark_present(const std::string& prefix, FeatureTable& table) const {
    const std::string name = prefix + "_features_present";
    if (!has(name.c_str())) return;
    const auto present = texts(name.c_str());
    for (const auto& feature : present) {
      if (std::none_of(table.begin(), table.end(),
                       [&](const Feature& f) { return f.name == feature; })) {
        throw DataError("{} names '{}', which is not in {}_feature_names; {}", where(name.c_str()),
                        feature, prefix, kRemedy);
      }
    }
    for (Feature& feature : table) {
      feature.present = std::find(present.begin(), present.end(), feature.name) != present.end();
    }
  }

  [[nodiscard]] std::string where(const char* name) const {
    return fmt::format("{}: attribute {}", path_, name);
  }

  [[nodiscard]] h5::Attribute open(const char* name) const {
    if (!has(name)) throw DataError("{} is missing; {}", where(name), kRemedy);
    return h5::Attribute(h5::check(H5Aopen(file_, name, H5P_DEFAULT), where(name)));
  }

  [[nodiscard]] std::size_t length(const h5::Attribute& attribute, const char* name,
                                   bool scalar) const {
    const h5::Dataspace space(h5::check(H5Aget_space(attribute.get()), where(name)));
    const int rank = H5Sget_simple_extent_ndims(space.get());
    if (rank != (scalar ? 0 : 1) || H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
      throw DataError("{} should be a {}; {}", where(name), scalar ? "single value" : "list",
                      kRemedy);
    }
    if (scalar) return 1;
    hsize_t count = 0;
    h5::check(H5Sget_simple_extent_dims(space.get(), &count, nullptr), where(name));
    if (count == 0 || count > kMaxListLength) {
      throw DataError("{} has {} entries; expected 1 to {}; {}", where(name), count, kMaxListLength,
                      kRemedy);
    }
    return count;
  }

  hid_t file_;
  const std::string& path_;
};

void check_format(const AttributeReader& reader, const std::string& path) {
  if (!reader.has("format")) {
    throw DataError(
        "{} is an HDF5 file but not a traffic data set (no attribute 'format'); data_prep record "
        "makes one",
        path);
  }
  const std::string format = reader.text("format");
  if (format != kFormatName) {
    throw DataError("{} has the format '{}', expected '{}'; data_prep record makes one", path,
                    format.substr(0, 60), kFormatName);
  }
  const auto version = reader.number<std::int64_t>("format_version", Element::kI64);
  if (version > kFormatVersion) {
    throw DataError(
        "{} has format version {}, this program reads up to {}; use the program that wrote it or "
        "a later one",
        path, version, kFormatVersion);
  }
  if (version < 1) {
    throw DataError("{} has format version {}; versions start at 1; {}", path, version,
                    AttributeReader::kRemedy);
  }
}

}  // namespace

void write_attributes(hid_t file, const FileInfo& info) {
  write_text(file, "format", kFormatName);
  write_number(file, "format_version", Element::kI64, kFormatVersion);
  write_text(file, "scenario", info.scenario);
  write_number(file, "step_length_s", Element::kF64, info.step_length_s);
  write_number(file, "frame_interval_s", Element::kF64, info.frame_interval_s);
  write_text(file, "program_version", info.program_version);
  write_text(file, "sumo_version", info.sumo_version);
  write_text(file, "command_line", info.command_line);
  write_text(file, "created_utc", info.created_utc);
  write_text(file, "splitting", info.splitting);
  write_texts(file, "controller_names", info.controller_names);
  write_features(file, "node", info.node_features);
  write_features(file, "edge", info.edge_features);
  write_features(file, "global", info.global_features);
  write_number(file, "content_xxh3", Element::kU64, info.content_hash);
}

FileInfo read_attributes(hid_t file, const std::string& path) {
  const AttributeReader reader(file, path);
  check_format(reader, path);
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
  info.node_features = reader.features("node");
  info.edge_features = reader.features("edge");
  info.global_features = reader.features("global");
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
