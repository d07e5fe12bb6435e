/// Writes FileInfo to the root attributes of a file and reads it back. Strings have a fixed length,
/// so that nothing points into HDF5's heaps.
#pragma once

#include <string>

#include "hdf5_handle.h"
#include "traffic/data/format.h"

namespace traffic::data {

void write_attributes(hid_t file, const FileInfo& info);

/// @param path for messages
/// @throws DataError if the file has another format or a later version, or an attribute is missing,
/// has another type or is out of bounds
FileInfo read_attributes(hid_t file, const std::string& path);

}  // namespace traffic::data
