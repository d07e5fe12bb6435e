/// The HDF5 types of the values of a checkpoint. Reader and writer use the same, so HDF5 never
/// converts.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <optional>

#include "h5.h"

namespace traffic::checkpoint {

/// Type of the elements of a tensor; bool is the enumeration that h5py uses.
h5::Type tensor_type(at::ScalarType dtype);
std::optional<at::ScalarType> dtype_of(const h5::Type& type);

/// One zero-terminated UTF-8 text of at most bytes-1 bytes.
h5::Type text_type(std::size_t bytes);
/// One raw byte.
h5::Type raw_type();

}  // namespace traffic::checkpoint
