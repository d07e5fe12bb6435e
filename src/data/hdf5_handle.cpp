// Error handling of calls of the HDF5 library (hdf5_handle.h).
#include "hdf5_handle.h"

#include <bit>

namespace traffic::data::h5 {
namespace {

static_assert(std::endian::native == std::endian::little,
              "chunks are decoded without a change of byte order");

herr_t append_reason(unsigned depth, const H5E_error2_t* entry, void* out) {
  // Takes only the innermost entries of the error stack. The outer entries only repeat that a call
  // has failed.
  constexpr unsigned kReasons = 2;
  if (depth < kReasons && entry->desc != nullptr) {
    auto& text = *static_cast<std::string*>(out);
    if (!text.empty()) text += "; ";
    text += entry->desc;
  }
  return 0;
}

Datatype half_type() {
  Datatype type(check(H5Tcopy(H5T_IEEE_F32LE), "float16 type"));
  check(H5Tset_fields(type.get(), 15, 10, 5, 0, 10), "float16 type");
  check(H5Tset_size(type.get(), 2), "float16 type");
  check(H5Tset_ebias(type.get(), 15), "float16 type");
  return type;
}

}  // namespace

void enter() {
  static const bool thread_safe = [] {
    hbool_t safe = 0;
    H5open();
    H5PLset_loading_state(0);
    return H5is_library_threadsafe(&safe) >= 0 && safe != 0;
  }();
  if (!thread_safe) {
    throw ResourceError(
        "this HDF5 library was built without thread safety, but reader threads need it; link the "
        "library of the distribution (libhdf5-dev) or build HDF5 with --enable-threadsafe");
  }
  thread_local const bool quiet = [] { return H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0; }();
  static_cast<void>(quiet);
}

std::string error_text() {
  std::string text;
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, append_reason, &text);
  H5Eclear2(H5E_DEFAULT);
  return text.empty() ? "HDF5 gives no reason" : text;
}

void fail(const std::string& what) {
  const std::string text = error_text();
  if (text.find("No space left") != std::string::npos ||
      text.find("quota exceeded") != std::string::npos) {
    throw ResourceError("{}: {}; free some space there or choose another folder", what, text);
  }
  throw DataError("{}: {}", what, text);
}

Datatype file_type(Element element) {
  switch (element) {
    case Element::kU8:
      return Datatype(check(H5Tcopy(H5T_STD_U8LE), "type"));
    case Element::kU16:
      return Datatype(check(H5Tcopy(H5T_STD_U16LE), "type"));
    case Element::kU32:
      return Datatype(check(H5Tcopy(H5T_STD_U32LE), "type"));
    case Element::kU64:
      return Datatype(check(H5Tcopy(H5T_STD_U64LE), "type"));
    case Element::kI32:
      return Datatype(check(H5Tcopy(H5T_STD_I32LE), "type"));
    case Element::kI64:
      return Datatype(check(H5Tcopy(H5T_STD_I64LE), "type"));
    case Element::kF16:
      return half_type();
    case Element::kF32:
      return Datatype(check(H5Tcopy(H5T_IEEE_F32LE), "type"));
    case Element::kF64:
      return Datatype(check(H5Tcopy(H5T_IEEE_F64LE), "type"));
  }
  fail("unknown element type");
}

}  // namespace traffic::data::h5
