/// Owning HDF5 handles and checked HDF5 calls. HDF5 headers stay in this module.
#pragma once

#include <hdf5.h>

#include <string>
#include <string_view>
#include <utility>

#include "traffic/core/error.h"
#include "traffic/data/format.h"

namespace traffic::data::h5 {

/// Owner of an HDF5 identifier; a moved-from handle is null.
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
  /// Releases the identifier to a caller that checks the result of closing it.
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

/// Silences HDF5 in this thread and forbids filter plugins. Every function that enters the library
/// calls it first.
/// @throws ResourceError if this build of HDF5 is not thread-safe
void enter();

/// HDF5's messages on the failed call of this thread, innermost reason first.
[[nodiscard]] std::string error_text();

/// Throws `what` with HDF5's messages: ResourceError if the disk is full, else DataError.
[[noreturn]] void fail(const std::string& what);

/// Returns the result of a call, or calls fail().
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
