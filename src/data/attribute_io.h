/// Writes and reads single attributes of HDF5 files, for both file formats of this module. Strings
/// have a fixed length. HDF5 would store strings of variable length in a separate heap, which a
/// damaged file could make unreadable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "hdf5_handle.h"
#include "traffic/data/format.h"

namespace traffic::data {

void write_attribute(hid_t file, const char* name, hid_t type, hid_t space, const void* value);
/// The HDF5 shape of a list.
[[nodiscard]] h5::Dataspace list_space(hsize_t length);
/// Writes at most the first 32 KiB of the text.
void write_text(hid_t file, const char* name, std::string_view text);
void write_texts(hid_t file, const char* name, const std::vector<std::string>& texts);
void write_number(hid_t file, const char* name, std::int64_t value);
void write_number(hid_t file, const char* name, std::uint64_t value);
void write_number(hid_t file, const char* name, double value);

/// Reads the attributes of one file. Its errors name the file and the attribute.
class AttributeReader {
 public:
  /// @param path path of the file, for messages; must outlive this object
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
  [[nodiscard]] std::vector<std::string> texts(const char* name, bool scalar = false) const;

  /// Checks the attributes `format` and `format_version`.
  /// @param maker the command that makes files of this format
  /// @throws DataError for another format or a later version
  void check_format(std::string_view format, std::int64_t version, std::string_view maker) const;

  /// "FILE: attribute NAME", for messages
  [[nodiscard]] std::string where(const char* name) const {
    return fmt::format("{}: attribute {}", path_, name);
  }

  static constexpr std::string_view kRemedy = "make the file again with data_prep";

 private:
  [[nodiscard]] h5::Attribute open(const char* name) const;
  [[nodiscard]] std::size_t length(const h5::Attribute& attribute, const char* name,
                                   bool scalar) const;

  hid_t file_;
  const std::string& path_;
};

}  // namespace traffic::data
