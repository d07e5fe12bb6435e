// Writes and reads single attributes of HDF5 files (attribute_io.h).
#include "attribute_io.h"

#include <algorithm>

namespace traffic::data {
namespace {

constexpr std::size_t kMaxStringBytes = 65536;
constexpr hsize_t kMaxListLength = 4096;

h5::Datatype string_type(std::size_t bytes) {
  h5::Datatype type(h5::check(H5Tcopy(H5T_C_S1), "string type"));
  h5::check(H5Tset_size(type.get(), std::max<std::size_t>(bytes, 1)), "string type");
  h5::check(H5Tset_cset(type.get(), H5T_CSET_UTF8), "string type");
  h5::check(H5Tset_strpad(type.get(), H5T_STR_NULLPAD), "string type");
  return type;
}

h5::Dataspace scalar_space() {
  return h5::Dataspace(h5::check(H5Screate(H5S_SCALAR), "data space"));
}

void write_scalar(hid_t file, const char* name, Element element, const void* value) {
  write_attribute(file, name, h5::file_type(element).get(), scalar_space().get(), value);
}

}  // namespace

void write_attribute(hid_t file, const char* name, hid_t type, hid_t space, const void* value) {
  const std::string what = fmt::format("write attribute {}", name);
  const h5::Attribute attribute(
      h5::check(H5Acreate2(file, name, type, space, H5P_DEFAULT, H5P_DEFAULT), what));
  h5::check(H5Awrite(attribute.get(), type, value), what);
}

h5::Dataspace list_space(hsize_t length) {
  return h5::Dataspace(h5::check(H5Screate_simple(1, &length, nullptr), "data space"));
}

void write_text(hid_t file, const char* name, std::string_view text) {
  // HDF5 limits attributes to 64 KiB, but texts such as command lines may be longer.
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

void write_number(hid_t file, const char* name, std::int64_t value) {
  write_scalar(file, name, Element::kI64, &value);
}
void write_number(hid_t file, const char* name, std::uint64_t value) {
  write_scalar(file, name, Element::kU64, &value);
}
void write_number(hid_t file, const char* name, double value) {
  write_scalar(file, name, Element::kF64, &value);
}

std::vector<std::string> AttributeReader::texts(const char* name, bool scalar) const {
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

void AttributeReader::check_format(std::string_view format, std::int64_t version,
                                   std::string_view maker) const {
  if (!has("format")) {
    throw DataError(
        "{} is an HDF5 file but not a traffic data set (no attribute 'format'); {} makes one",
        path_, maker);
  }
  const std::string found = text("format");
  if (found != format) {
    throw DataError("{} has the format '{}', expected '{}'; {} makes one", path_,
                    found.substr(0, 60), format, maker);
  }
  const auto found_version = number<std::int64_t>("format_version", Element::kI64);
  if (found_version > version) {
    throw DataError(
        "{} has format version {}, this program reads up to {}; use the program that wrote it or "
        "a later one",
        path_, found_version, version);
  }
  if (found_version < 1) {
    throw DataError("{} has format version {}; versions start at 1; {}", path_, found_version,
                    kRemedy);
  }
}

h5::Attribute AttributeReader::open(const char* name) const {
  if (!has(name)) throw DataError("{} is missing; {}", where(name), kRemedy);
  return h5::Attribute(h5::check(H5Aopen(file_, name, H5P_DEFAULT), where(name)));
}

std::size_t AttributeReader::length(const h5::Attribute& attribute, const char* name,
                                    bool scalar) const {
  const h5::Dataspace space(h5::check(H5Aget_space(attribute.get()), where(name)));
  const int rank = H5Sget_simple_extent_ndims(space.get());
  if (rank != (scalar ? 0 : 1) || H5Sget_simple_extent_type(space.get()) == H5S_NULL) {
    throw DataError("{} has the wrong shape, expected a {}; {}", where(name),
                    scalar ? "single value" : "list", kRemedy);
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

}  // namespace traffic::data
