// Reads the values of a checkpoint from its HDF5 data, and checks them (reader.h).
#include "reader.h"

#include <ATen/Functions.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "dtype.h"
#include "h5_types.h"
#include "header.h"
#include "names.h"
#include "traffic/core/error.h"

namespace traffic::checkpoint {
namespace {

constexpr int kMaxDepth = 16;
constexpr int kMaxObjects = 100'000;

h5::File open_read_only(int fd) {
  h5::Properties access(h5::check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
  // No lock is needed: a checkpoint file may be replaced, but never changes. Some file systems have
  // no locks.
  h5::check(H5Pset_file_locking(access.id(), false, true), "H5Pset_file_locking");
  const std::string name = fmt::format("/proc/self/fd/{}", fd);
  return h5::File(h5::check(H5Fopen(name.c_str(), H5F_ACC_RDONLY, access.id()), "H5Fopen"));
}

std::vector<std::string> link_names(hid_t group) {
  std::vector<std::string> names;
  const auto collect = [](hid_t, const char* name, const H5L_info_t*, void* out) -> herr_t {
    auto* list = static_cast<std::vector<std::string>*>(out);
    if (list->size() >= kMaxObjects) return -1;
    list->emplace_back(name);
    return 0;
  };
  h5::check(H5Literate(group, H5_INDEX_NAME, H5_ITER_INC, nullptr, collect, &names), "H5Literate");
  return names;
}

const char* name_of(H5L_type_t type) {
  switch (type) {
    case H5L_TYPE_SOFT:
      return "a soft link";
    case H5L_TYPE_EXTERNAL:
      return "a link to another file";
    default:
      return "an unknown kind of link";
  }
}

}  // namespace

Reader::Reader(int fd, std::filesystem::path path, std::uint64_t file_bytes)
    : path_(std::move(path)), file_bytes_(file_bytes), file_(open_read_only(fd)) {}

void Reader::refuse(const std::string& part, const std::string& found,
                    const std::string& expected) const {
  throw CheckpointError(
      "checkpoint {}: '{}' is {}, expected: {}; this program did not write this file: use another "
      "checkpoint",
      path_.string(), part, found, expected);
}

void Reader::read_into(Snapshot& snapshot, std::string_view prefix) {
  h5::Object root(h5::check(H5Oopen(file_.id(), "/", H5P_DEFAULT), "H5Oopen"));
  visit_group(root.id(), "", 0);
  for (const Part& part : parts_) {
    if (part.name.starts_with(prefix)) read_part(part, snapshot);
  }
}

void Reader::visit_group(hid_t group, const std::string& prefix, int depth) {
  if (depth > kMaxDepth)
    refuse(prefix, "nested too deeply", fmt::format("at most {} levels", kMaxDepth));
  std::vector<std::string> links = link_names(group);
  std::sort(links.begin(), links.end());
  const auto twice = std::adjacent_find(links.begin(), links.end());
  if (twice != links.end()) refuse(prefix + *twice, "the name of two values", "different names");
  for (const std::string& link : links) visit_link(group, link, prefix, depth);
}

void Reader::visit_link(hid_t group, const std::string& link, const std::string& prefix,
                        int depth) {
  const std::string name = prefix + link;
  if (!is_valid_part(link)) refuse(name, "an invalid name", "letters, digits and _.-+");
  if (++objects_ > kMaxObjects) {
    refuse(name, "one value too many", fmt::format("at most {} values and groups", kMaxObjects));
  }
  H5L_info_t info{};
  h5::check(H5Lget_info(group, link.c_str(), &info, H5P_DEFAULT), "H5Lget_info");
  if (info.type != H5L_TYPE_HARD) refuse(name, name_of(info.type), "a value or a group");
  h5::Object object(h5::check(H5Oopen(group, link.c_str(), H5P_DEFAULT), "H5Oopen"));
  switch (H5Iget_type(object.id())) {
    case H5I_GROUP:
      visit_group(object.id(), name + "/", depth + 1);
      break;
    case H5I_DATASET:
      add_part(object.id(), name);
      break;
    default:
      refuse(name, "neither group nor dataset", "a value or a group");
  }
}

void Reader::add_part(hid_t object, const std::string& name) {
  Part part;
  part.name = name;
  const h5::Type type(h5::check(H5Dget_type(object), "H5Dget_type"));
  const h5::Space space(h5::check(H5Dget_space(object), "H5Dget_space"));
  classify(part, type, space);
  check_storage(object, part);
  parts_.push_back(std::move(part));
}

void Reader::classify(Part& part, const h5::Type& type, const h5::Space& space) const {
  const H5S_class_t form = H5Sget_simple_extent_type(space.id());
  const int dims = H5Sget_simple_extent_ndims(space.id());
  if ((form != H5S_SCALAR && form != H5S_SIMPLE) || dims < 0 || dims > kMaxDims) {
    refuse(part.name, fmt::format("a value of {} dimensions", dims),
           fmt::format("0 to {} dimensions", kMaxDims));
  }
  std::vector<hsize_t> extent(static_cast<std::size_t>(dims));
  h5::check(H5Sget_simple_extent_dims(space.id(), extent.data(), nullptr),
            "H5Sget_simple_extent_dims");
  const std::size_t element_bytes = H5Tget_size(type.id());
  part.bytes = element_bytes;
  for (const hsize_t size : extent) {
    // The check keeps every product below the file's size, so neither this product nor a stride of
    // a tensor can overflow.
    if (size > file_bytes_ || (size > 0 && part.bytes > file_bytes_ / size)) {
      refuse(part.name, fmt::format("of shape [{}]", fmt::join(extent, ", ")),
             fmt::format("less than the {} bytes of the file", file_bytes_));
    }
    part.bytes *= size;
  }
  part.shape.assign(extent.begin(), extent.end());
  if (const auto dtype = dtype_of(type)) {
    part.dtype = *dtype;
    const bool scalar = form == H5S_SCALAR;
    if (scalar && *dtype == at::kLong) part.kind = Kind::kInt;
    if (scalar && *dtype == at::kDouble) part.kind = Kind::kReal;
  } else if (h5::check(H5Tequal(type.id(), raw_type().id()), "H5Tequal") > 0 && dims == 1) {
    part.kind = Kind::kBytes;
  } else if (H5Tget_class(type.id()) == H5T_STRING && form == H5S_SCALAR && element_bytes > 0 &&
             h5::check(H5Tequal(type.id(), text_type(element_bytes).id()), "H5Tequal") > 0) {
    part.kind = Kind::kText;
  } else {
    refuse(part.name, "of an unknown type", "float32/64, int32/64, uint8, bool, text or bytes");
  }
}

void Reader::check_storage(hid_t dataset, const Part& part) {
  const h5::Properties create(h5::check(H5Dget_create_plist(dataset), "H5Dget_create_plist"));
  if (H5Pget_layout(create.id()) != H5D_CONTIGUOUS || H5Pget_nfilters(create.id()) != 0 ||
      H5Pget_external_count(create.id()) != 0) {
    refuse(part.name, "stored in pieces, filtered or in another file", "plain contiguous storage");
  }
  const hsize_t stored = H5Dget_storage_size(dataset);
  if (stored != part.bytes) {
    refuse(part.name, fmt::format("{} bytes", stored), fmt::format("{} bytes", part.bytes));
  }
  const haddr_t offset = H5Dget_offset(dataset);
  if (part.bytes > 0 && (offset == HADDR_UNDEF || offset < kHeaderBytes || offset > file_bytes_ ||
                         part.bytes > file_bytes_ - offset)) {
    refuse(part.name, "not inside the file", fmt::format("inside its {} bytes", file_bytes_));
  }
  total_bytes_ += part.bytes;  // cannot overflow: both numbers are at most the file's size
  if (total_bytes_ > file_bytes_) {
    refuse(part.name,
           fmt::format("a value that makes the total size of all values {} bytes", total_bytes_),
           fmt::format("no more than the {} bytes of the file", file_bytes_));
  }
}

void Reader::read_raw(const Part& part, void* out) const {
  if (part.bytes == 0) return;
  const h5::Dataset dataset(
      h5::check(H5Dopen2(file_.id(), part.name.c_str(), H5P_DEFAULT), "H5Dopen2"));
  const h5::Type type(h5::check(H5Dget_type(dataset.id()), "H5Dget_type"));
  h5::check(H5Dread(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, out), "H5Dread");
}

at::Tensor Reader::read_tensor(const Part& part) const {
  if (part.dtype != at::kBool) {
    at::Tensor tensor = at::empty(part.shape, part.dtype);
    read_raw(part, tensor.mutable_data_ptr());
    return tensor;
  }
  // Read as bytes first: a byte other than 0 and 1 must never become a bool.
  at::Tensor raw = at::empty(part.shape, at::kByte);
  read_raw(part, raw.mutable_data_ptr());
  const auto* values = raw.const_data_ptr<std::uint8_t>();
  if (std::any_of(values, values + raw.numel(), [](std::uint8_t value) { return value > 1; })) {
    refuse(part.name, "a bool tensor with other values", "0 and 1");
  }
  return raw.to(at::kBool);
}

void Reader::read_part(const Part& part, Snapshot& snapshot) const {
  switch (part.kind) {
    case Kind::kTensor:
      snapshot.put_tensor(part.name, read_tensor(part));
      break;
    case Kind::kInt: {
      std::int64_t value = 0;
      read_raw(part, &value);
      snapshot.put_int(part.name, value);
      break;
    }
    case Kind::kReal: {
      double value = 0.0;
      read_raw(part, &value);
      snapshot.put_real(part.name, value);
      break;
    }
    case Kind::kText: {
      std::string text(part.bytes, '\0');
      read_raw(part, text.data());
      text.pop_back();  // the terminating zero
      snapshot.put_text(part.name, std::move(text));
      break;
    }
    case Kind::kBytes: {
      Bytes bytes(part.bytes);
      read_raw(part, bytes.data());
      snapshot.put_bytes(part.name, std::move(bytes));
      break;
    }
  }
}

}  // namespace traffic::checkpoint
