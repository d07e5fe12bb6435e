/// Helpers for calls of the HDF5 library: handles that close an HDF5 identifier in the destructor,
/// and check(), which throws HDF5's error text. Other files of this module include this header
/// instead of hdf5.h; public headers do not include it.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/data/format.h"

namespace traffic::data::h5 {

/// Owns an HDF5 identifier and closes it with the function Close. A moved-from handle owns none.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() { reset(); }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, H5I_INVALID_HID)) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      reset();
      id_ = std::exchange(other.id_, H5I_INVALID_HID);
    }
    return *this;
  }
  [[nodiscard]] hid_t get() const noexcept { return id_; }
  /// Gives up ownership, for a caller that closes the identifier itself and checks the result.
  [[nodiscard]] hid_t release() noexcept { return std::exchange(id_, H5I_INVALID_HID); }

 private:
  void reset() noexcept {
    if (id_ >= 0) Close(std::exchange(id_, H5I_INVALID_HID));
  }
  hid_t id_ = H5I_INVALID_HID;
};

using File = Handle<H5Fclose>;
using Group = Handle<H5Gclose>;
using Dataset = Handle<H5Dclose>;
using Dataspace = Handle<H5Sclose>;
using Datatype = Handle<H5Tclose>;
using Attribute = Handle<H5Aclose>;
using Properties = Handle<H5Pclose>;

/// Prepares this thread for calls of HDF5: HDF5 prints no errors and loads no filter plugins. A
/// thread must have called enter() before its first call of HDF5.
/// @throws ResourceError if this build of HDF5 is not thread-safe
void enter();

/// HDF5's messages about the last failed call in this thread, beginning with the innermost reason.
[[nodiscard]] std::string error_text();

/// Throws an error with the text `what` and HDF5's messages: a ResourceError if the disk is full,
/// otherwise a DataError.
[[noreturn]] void fail(const std::string& what);

/// Returns the result of an HDF5 call. Calls fail(what) if the result is negative.
template <typename T>
T check(T result, const std::string& what) {
  if (result < 0) [[unlikely]] {
    fail(what);
  }
  return result;
}

/// The type of an element in the file (little-endian).
[[nodiscard]] Datatype file_type(Element element);

}  // namespace traffic::data::h5
