/// Helpers for calls of the HDF5 library: handles that close an HDF5 identifier in the destructor,
/// and check(), which throws HDF5's own error text.
#pragma once

#include <hdf5.h>

#include <string>
#include <utility>

namespace traffic::checkpoint::h5 {

/// Owns an identifier of HDF5 and closes it with the function Close.
template <herr_t (*Close)(hid_t)>
class Handle {
 public:
  Handle() = default;
  explicit Handle(hid_t id) : id_(id) {}
  ~Handle() {
    if (id_ >= 0) Close(id_);
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    return *this;
  }
  Handle(const Handle&) = delete;
  Handle& operator=(const Handle&) = delete;
  [[nodiscard]] hid_t id() const { return id_; }

 private:
  hid_t id_ = -1;
};

using File = Handle<H5Fclose>;
using Object = Handle<H5Oclose>;
using Dataset = Handle<H5Dclose>;
using Space = Handle<H5Sclose>;
using Type = Handle<H5Tclose>;
using Properties = Handle<H5Pclose>;
using Attribute = Handle<H5Aclose>;

/// While this object exists, HDF5 prints no errors in this thread.
class QuietErrors {
 public:
  QuietErrors();
  ~QuietErrors();
  QuietErrors(const QuietErrors&) = delete;
  QuietErrors& operator=(const QuietErrors&) = delete;

 private:
  H5E_auto2_t print_ = nullptr;
  void* data_ = nullptr;
};

/// HDF5's text for its last error in this thread.
std::string last_error();

/// Thrown by check(). The code that catches it throws a suitable traffic::Error instead.
struct CallFailed {
  std::string message;  ///< "H5Dread: ..."
};

/// Returns the result of an HDF5 call, or throws if the call failed: check(H5Dread(...),
/// "H5Dread").
template <typename Result>
Result check(Result result, const char* call) {
  if (result < 0) throw CallFailed{std::string(call) + ": " + last_error()};
  return result;
}

}  // namespace traffic::checkpoint::h5
