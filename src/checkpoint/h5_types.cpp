// The HDF5 types of the values of a checkpoint (h5_types.h).
#include "h5_types.h"

#include <cstdint>

#include "dtype.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

hid_t standard_type(at::ScalarType dtype) {
  switch (dtype) {
    case at::kFloat:
      return H5T_IEEE_F32LE;
    case at::kDouble:
      return H5T_IEEE_F64LE;
    case at::kLong:
      return H5T_STD_I64LE;
    case at::kInt:
      return H5T_STD_I32LE;
    case at::kByte:
      return H5T_STD_U8LE;
    default:
      return -1;
  }
}

h5::Type bool_type() {
  h5::Type type(h5::check(H5Tenum_create(H5T_STD_I8LE), "H5Tenum_create"));
  std::int8_t value = 0;
  h5::check(H5Tenum_insert(type.id(), "FALSE", &value), "H5Tenum_insert");
  value = 1;
  h5::check(H5Tenum_insert(type.id(), "TRUE", &value), "H5Tenum_insert");
  return type;
}

}  // namespace

h5::Type tensor_type(at::ScalarType dtype) {
  if (dtype == at::kBool) return bool_type();
  const hid_t standard = standard_type(dtype);
  TRAFFIC_CHECK(standard >= 0, "no HDF5 type for {}", c10::toString(dtype));
  return h5::Type(h5::check(H5Tcopy(standard), "H5Tcopy"));
}

std::optional<at::ScalarType> dtype_of(const h5::Type& type) {
  for (const at::ScalarType dtype : kDtypes) {
    if (h5::check(H5Tequal(type.id(), tensor_type(dtype).id()), "H5Tequal") > 0) return dtype;
  }
  return std::nullopt;
}

h5::Type text_type(std::size_t bytes) {
  h5::Type type(h5::check(H5Tcopy(H5T_C_S1), "H5Tcopy"));
  h5::check(H5Tset_size(type.id(), bytes), "H5Tset_size");
  h5::check(H5Tset_cset(type.id(), H5T_CSET_UTF8), "H5Tset_cset");
  return type;
}

h5::Type raw_type() {
  h5::Type type(h5::check(H5Tcreate(H5T_OPAQUE, 1), "H5Tcreate"));
  h5::check(H5Tset_tag(type.id(), "bytes"), "H5Tset_tag");
  return type;
}

}  // namespace traffic::checkpoint
