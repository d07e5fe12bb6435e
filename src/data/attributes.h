/// The root attributes: FileInfo to and from HDF5. Strings have a fixed length, so that nothing
/// points into HDF5's heaps.
#pragma once

#include <string>

#include "hdf5_handle.h"
#include "traffic/data/format.h"

namespace traffic::data {

void write_attributes(hid_t file, const FileInfo& info);

/// @param path for messages
/// @throws DataError if the file is another format, of a later version, or an attribute is missing,
/// of another type or out of bounds
FileInfo read_attributes(hid_t file, const std::string& path);

}  // namespace traffic::data
