// Error handling of calls of the HDF5 library (h5.h).
#include "h5.h"

namespace traffic::checkpoint::h5 {
namespace {

/// Stores the text of the innermost error, which names the cause. HDF5 calls this function for each
/// error of its stack; the innermost error has n == 0.
herr_t take_first(unsigned n, const H5E_error2_t* error, void* text) {
  if (n == 0 && error->desc != nullptr) *static_cast<std::string*>(text) = error->desc;
  return 0;
}

}  // namespace

QuietErrors::QuietErrors() {
  H5Eget_auto2(H5E_DEFAULT, &print_, &data_);
  H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
}

QuietErrors::~QuietErrors() { H5Eset_auto2(H5E_DEFAULT, print_, data_); }

std::string last_error() {
  std::string text = "no further information";
  H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, take_first, &text);
  return text;
}

}  // namespace traffic::checkpoint::h5
