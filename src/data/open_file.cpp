// open_data_file() of column_reader.h, which explains why a file cannot be opened.
#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <fstream>

#include "column_reader.h"
#include "traffic/core/atomic_file.h"

namespace traffic::data {
namespace {

namespace fs = std::filesystem;

/// Whether the file has the signature of HDF5 files, at byte 0, 512, 1024, 2048, ...
bool has_signature(std::ifstream& file, std::uint64_t size) {
  constexpr std::array<char, 8> kSignature{'\x89', 'H', 'D', 'F', '\r', '\n', '\x1a', '\n'};
  for (std::uint64_t at = 0; at + kSignature.size() <= size; at = at == 0 ? 512 : 2 * at) {
    std::array<char, 8> found{};
    file.seekg(static_cast<std::streamoff>(at));
    if (!file.read(found.data(), found.size())) return false;
    if (found == kSignature) return true;
  }
  return false;
}

void check_readable(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::not_found) {
    throw DataError("{} does not exist; check data.files or make it with data_prep record", path);
  }
  if (status.type() != fs::file_type::regular) {
    throw DataError("{} is not a regular file; data.files takes files or globs such as {}/*.h5",
                    path, path);
  }
  const std::uint64_t size = fs::file_size(path, error);
  if (!error && size == 0) {
    throw DataError(
        "{} is empty (0 bytes); the copy or the recording was interrupted; make it again", path);
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    throw DataError("cannot open {}: {}; check its permissions", path,
                    std::generic_category().message(errno));
  }
  if (!has_signature(file, size)) {
    throw DataError(
        "{} is not an HDF5 file (its signature is missing); data_prep record makes data sets",
        path);
  }
}

[[noreturn]] void explain_open_failure(const std::string& path) {
  const std::string reason = h5::error_text();
  const auto says = [&](std::string_view words) { return reason.find(words) != reason.npos; };
  if (says("truncated")) {
    throw DataError("{} is truncated: {}; copy or make it again", path, reason);
  }
  if (says("unable to lock")) {
    throw DataError(
        "{} cannot be locked: {}; end the program that writes it, or set "
        "HDF5_USE_FILE_LOCKING=FALSE where the file system has no locks",
        path, reason);
  }
  if (says("already open")) {
    throw DataError(
        "{} is marked as open for writing: {}; if no program writes it, clear the "
        "mark with: h5clear -s {}",
        path, reason, path);
  }
  throw DataError("{} is damaged: {}; copy or make it again", path, reason);
}

}  // namespace

h5::File open_data_file(const std::string& path) {
  check_readable(path);
  h5::enter();
  const h5::Properties access(h5::check(H5Pcreate(H5P_FILE_ACCESS), "file properties"));
  h5::check(H5Pset_fclose_degree(access.get(), H5F_CLOSE_STRONG), "file properties");
  h5::File file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.get()));
  if (file.get() < 0) explain_open_failure(path);
  return file;
}

}  // namespace traffic::data
