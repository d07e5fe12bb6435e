/// The HDF5 types in which the values of a checkpoint are stored. Reading and writing use the same
/// types, so HDF5 never converts values.
#pragma once

#include <c10/core/ScalarType.h>

#include <cstddef>
#include <optional>

#include "h5.h"

namespace traffic::checkpoint {

/// Type of the elements of a tensor. A bool is stored as the enumeration {FALSE, TRUE} of one byte,
/// as h5py does.
h5::Type tensor_type(at::ScalarType dtype);
/// The element type that is stored as `type`; nullopt if there is none.
std::optional<at::ScalarType> dtype_of(const h5::Type& type);

/// One zero-terminated UTF-8 text of at most bytes-1 bytes.
h5::Type text_type(std::size_t bytes);
/// One raw byte.
h5::Type raw_type();

}  // namespace traffic::checkpoint
