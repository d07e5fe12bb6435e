/// Writes FileInfo (format.h) to the root attributes of a data set file and reads it back.
#pragma once

#include <string>

#include "hdf5_handle.h"
#include "traffic/data/format.h"

namespace traffic::data {

void write_attributes(hid_t file, const FileInfo& info);

/// @param path path of the file, for messages
/// @throws DataError if the file has another format or a later version, or if an attribute is
///   missing, has another type or is out of bounds
FileInfo read_attributes(hid_t file, const std::string& path);

}  // namespace traffic::data
