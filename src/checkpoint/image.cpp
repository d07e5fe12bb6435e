// Builds the bytes of a checkpoint file in memory with HDF5 (image.h).
#include "image.h"

#include <atomic>
#include <cstring>
#include <string>
#include <vector>

#include "h5_types.h"
#include "header.h"

namespace traffic::checkpoint {
namespace {

/// Estimated size of the structures that HDF5 stores for one value. It is used only for the size of
/// the first allocation.
constexpr std::size_t kBytesPerPart = 1024;
/// HDF5 stores up to this number of links in the group's header, the simplest form of storage. No
/// group has more links.
constexpr unsigned kMaxCompactLinks = 65000;

/// Makes groups store their links in the group's header and record no times, so that equal
/// snapshots give equal files.
void set_group_properties(hid_t properties) {
  h5::check(H5Pset_link_phase_change(properties, kMaxCompactLinks, kMaxCompactLinks - 1),
            "H5Pset_link_phase_change");
  h5::check(H5Pset_obj_track_times(properties, false), "H5Pset_obj_track_times");
}

h5::File create_in_memory(const Snapshot& snapshot) {
  const std::size_t guess = static_cast<std::size_t>(snapshot.total_bytes()) +
                            snapshot.values().size() * kBytesPerPart + 2 * kHeaderBytes;
  h5::Properties access(h5::check(H5Pcreate(H5P_FILE_ACCESS), "H5Pcreate"));
  h5::check(H5Pset_fapl_core(access.id(), guess, false), "H5Pset_fapl_core");
  h5::check(H5Pset_libver_bounds(access.id(), H5F_LIBVER_V18, H5F_LIBVER_V18),
            "H5Pset_libver_bounds");
  h5::Properties create(h5::check(H5Pcreate(H5P_FILE_CREATE), "H5Pcreate"));
  h5::check(H5Pset_userblock(create.id(), kHeaderBytes), "H5Pset_userblock");
  set_group_properties(create.id());
  // Each image has a name of its own, because HDF5 treats two files in memory with the same name as
  // one file.
  static std::atomic<unsigned> counter{0};
  const std::string name = "checkpoint-" + std::to_string(counter.fetch_add(1));
  return h5::File(
      h5::check(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, create.id(), access.id()), "H5Fcreate"));
}

/// Creates the groups that contain the value `name`: for "a/b/c" the groups "a" and "a/b".
void create_groups(const h5::File& file, const std::string& name) {
  h5::Properties create(h5::check(H5Pcreate(H5P_GROUP_CREATE), "H5Pcreate"));
  set_group_properties(create.id());
  for (auto slash = name.find('/'); slash != std::string::npos; slash = name.find('/', slash + 1)) {
    const std::string group = name.substr(0, slash);
    if (h5::check(H5Lexists(file.id(), group.c_str(), H5P_DEFAULT), "H5Lexists") > 0) continue;
    h5::Object(h5::check(
        H5Gcreate2(file.id(), group.c_str(), H5P_DEFAULT, create.id(), H5P_DEFAULT), "H5Gcreate2"));
  }
}

void write_dataset(const h5::File& file, const std::string& name, const h5::Type& type,
                   const h5::Space& space, const void* data) {
  create_groups(file, name);
  h5::Properties create(h5::check(H5Pcreate(H5P_DATASET_CREATE), "H5Pcreate"));
  h5::check(H5Pset_layout(create.id(), H5D_CONTIGUOUS), "H5Pset_layout");
  h5::check(H5Pset_obj_track_times(create.id(), false), "H5Pset_obj_track_times");
  h5::check(H5Pset_fill_time(create.id(), H5D_FILL_TIME_NEVER), "H5Pset_fill_time");
  h5::Dataset dataset(h5::check(H5Dcreate2(file.id(), name.c_str(), type.id(), space.id(),
                                           H5P_DEFAULT, create.id(), H5P_DEFAULT),
                                "H5Dcreate2"));
  h5::check(H5Dwrite(dataset.id(), type.id(), H5S_ALL, H5S_ALL, H5P_DEFAULT, data), "H5Dwrite");
}

h5::Space scalar_space() { return h5::Space(h5::check(H5Screate(H5S_SCALAR), "H5Screate")); }

h5::Space array_space(const std::vector<hsize_t>& dims) {
  if (dims.empty()) return scalar_space();
  return h5::Space(h5::check(H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr),
                             "H5Screate_simple"));
}

struct DatasetWriter {
  const h5::File& file;
  const std::string& name;

  void operator()(const at::Tensor& tensor) const {
    const std::vector<hsize_t> dims(tensor.sizes().begin(), tensor.sizes().end());
    // HDF5 requires a valid pointer even if there are no elements.
    const void* data = tensor.numel() > 0 ? tensor.const_data_ptr() : "";
    write_dataset(file, name, tensor_type(tensor.scalar_type()), array_space(dims), data);
  }
  void operator()(std::int64_t value) const {
    write_dataset(file, name, tensor_type(at::kLong), scalar_space(), &value);
  }
  void operator()(double value) const {
    write_dataset(file, name, tensor_type(at::kDouble), scalar_space(), &value);
  }
  void operator()(const std::string& text) const {
    write_dataset(file, name, text_type(text.size() + 1), scalar_space(), text.c_str());
  }
  void operator()(const Bytes& bytes) const {
    const void* data = bytes.empty() ? static_cast<const void*>("") : bytes.data();
    write_dataset(file, name, raw_type(), array_space({bytes.size()}), data);
  }
};

/// Adds a text that names the format, for people who open the file with other tools.
void write_format_attribute(const h5::File& file) {
  const std::string format = "traffic_train checkpoint, format version 1";
  const h5::Type type = text_type(format.size() + 1);
  const h5::Space space = scalar_space();
  h5::Attribute attribute(
      h5::check(H5Acreate2(file.id(), "format", type.id(), space.id(), H5P_DEFAULT, H5P_DEFAULT),
                "H5Acreate2"));
  h5::check(H5Awrite(attribute.id(), type.id(), format.c_str()), "H5Awrite");
}

/// The memory in which HDF5's core driver keeps the file, up to the last byte that HDF5 uses.
std::span<std::byte> memory_of(const h5::File& file) {
  h5::check(H5Fflush(file.id(), H5F_SCOPE_GLOBAL), "H5Fflush");
  const ssize_t payload = h5::check(H5Fget_file_image(file.id(), nullptr, 0), "H5Fget_file_image");
  void* handle = nullptr;
  h5::check(H5Fget_vfd_handle(file.id(), H5P_DEFAULT, &handle), "H5Fget_vfd_handle");
  return {*static_cast<std::byte**>(handle), kHeaderBytes + static_cast<std::size_t>(payload)};
}

}  // namespace

Image::Image(const Snapshot& snapshot) : step_(snapshot.step()), file_(create_in_memory(snapshot)) {
  write_format_attribute(file_);
  for (const auto& [name, value] : snapshot.values()) std::visit(DatasetWriter{file_, name}, value);
  bytes_ = memory_of(file_);
}

std::span<const std::byte> Image::seal() {
  const Header header = make_header(step_, bytes_.subspan(kHeaderBytes));
  std::memcpy(bytes_.data(), &header, sizeof(header));
  return bytes_;
}

}  // namespace traffic::checkpoint
