/// Opens data set files that are broken in different ways, and checks the error messages.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <vector>

#include "data/hdf5_handle.h"
#include "support/processes.h"
#include "synthetic.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/data/reader.h"
#include "traffic/data/verify.h"

namespace traffic::data {
namespace {

using test::TempDir;
using testing::AllOf;
using testing::HasSubstr;

std::string open_and_read(const std::filesystem::path& path) {
  try {
    const DatasetReader reader(path);
    for (const auto& problem : find_problems(reader)) return problem;
  } catch (const DataError& error) {
    EXPECT_EQ(error.code(), ExitCode::kData);
    return error.what();
  }
  return "no error";
}

class BadFiles : public testing::Test {
 protected:
  void SetUp() override {
    test::write_file(path_, {{{.seed = 1, .frames = 60, .vehicles = 40}}, {{.seed = 2}}},
                     {.compression_level = 1});
  }

  /// Lets `how` change the good file through the HDF5 library.
  void change(const std::function<void(hid_t file)>& how) {
    h5::enter();
    const h5::File file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    ASSERT_GE(file.get(), 0);
    how(file.get());
  }

  /// Replaces a column by another, which is chunked and has the filters that `filter` adds.
  void replace(
      const std::string& name, hid_t type, const std::vector<hsize_t>& size, const void* values,
      const std::function<void(hid_t properties)>& filter = [](hid_t) {}) {
    change([&](hid_t file) {
      ASSERT_GE(H5Ldelete(file, name.c_str(), H5P_DEFAULT), 0);
      const h5::Dataspace space(
          H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr));
      const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE));
      std::vector<hsize_t> chunk = size;
      chunk[0] = 1024;
      H5Pset_chunk(properties.get(), static_cast<int>(chunk.size()), chunk.data());
      filter(properties.get());
      const h5::Dataset dataset(H5Dcreate2(file, name.c_str(), type, space.get(), H5P_DEFAULT,
                                           properties.get(), H5P_DEFAULT));
      ASSERT_GE(dataset.get(), 0);
      if (values != nullptr) {
        ASSERT_GE(H5Dwrite(dataset.get(), type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values), 0);
      }
    });
  }

  /// Overwrites one element of a column in place.
  template <typename T>
  void set_element(const std::string& name, hid_t type, std::vector<hsize_t> at, T value) {
    change([&](hid_t file) {
      const h5::Dataset dataset(H5Dopen2(file, name.c_str(), H5P_DEFAULT));
      const h5::Dataspace space(H5Dget_space(dataset.get()));
      H5Sselect_elements(space.get(), H5S_SELECT_SET, 1, at.data());
      const h5::Dataspace one(H5Screate(H5S_SCALAR));
      ASSERT_GE(H5Dwrite(dataset.get(), type, one.get(), space.get(), H5P_DEFAULT, &value), 0);
    });
  }

  void replace_attribute(const char* name, hid_t type, const void* value) {
    change([&](hid_t file) {
      H5Adelete(file, name);
      if (value == nullptr) return;
      const h5::Dataspace space(H5Screate(H5S_SCALAR));
      const h5::Attribute attribute(
          H5Acreate2(file, name, type, space.get(), H5P_DEFAULT, H5P_DEFAULT));
      ASSERT_GE(H5Awrite(attribute.get(), type, value), 0);
    });
  }

  [[nodiscard]] std::int64_t num_nodes() const { return DatasetReader(path_).num_nodes(); }

  TempDir dir_;
  std::string path_ = dir_ / "bad.h5";
};

TEST_F(BadFiles, TheGoodFileHasNoProblem) { EXPECT_EQ(open_and_read(path_), "no error"); }

TEST_F(BadFiles, MissingEmptyAndForeignFilesAreDistinguished) {
  EXPECT_THAT(open_and_read(dir_ / "none.h5"), HasSubstr("does not exist"));
  EXPECT_THAT(open_and_read(dir_.path()), HasSubstr("not a regular file"));
  test::write_bytes(path_, "");
  EXPECT_THAT(open_and_read(path_), HasSubstr("is empty (0 bytes)"));
  test::write_bytes(path_, "<fcd-export/>");
  EXPECT_THAT(open_and_read(path_), HasSubstr("not an HDF5 file"));
  test::write_bytes(path_, std::string(100000, '\0'));
  EXPECT_THAT(open_and_read(path_), HasSubstr("not an HDF5 file"));
}

TEST_F(BadFiles, AnotherHdf5FileIsForeign) {
  const std::string other = dir_ / "other.h5";
  h5::enter();
  h5::File(H5Fcreate(other.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT));
  EXPECT_THAT(open_and_read(other), AllOf(HasSubstr(other), HasSubstr("not a traffic data set")));
}

TEST_F(BadFiles, TruncationIsFoundWhereverItIs) {
  const std::string bytes = test::read_bytes(path_);
  for (std::size_t size = 8; size < bytes.size(); size += 1 + bytes.size() / 97) {
    test::write_bytes(path_, bytes.substr(0, size));
    EXPECT_THAT(open_and_read(path_), testing::AnyOf(HasSubstr("truncated"), HasSubstr("damaged")))
        << size;
  }
}

TEST_F(BadFiles, AFileThatAnotherProgramWritesIsLocked) {
  const int fd = ::open(path_.c_str(), O_RDWR);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(flock(fd, LOCK_EX), 0);
  EXPECT_THAT(open_and_read(path_),
              AllOf(HasSubstr("cannot be locked"), HasSubstr("HDF5_USE_FILE_LOCKING=FALSE")));
  close(fd);
  EXPECT_EQ(open_and_read(path_), "no error");
}

TEST_F(BadFiles, AFileThatAWriterLeftOpenIsRefusedWithARemedy) {
  const pid_t child = traffic::test::fork_child();
  if (child == 0) {
    const h5::Properties access(H5Pcreate(H5P_FILE_ACCESS));
    H5Pset_libver_bounds(access.get(), H5F_LIBVER_V110, H5F_LIBVER_V110);
    const h5::File file(H5Fopen(path_.c_str(), H5F_ACC_RDWR, access.get()));
    H5Fflush(file.get(), H5F_SCOPE_GLOBAL);
    _exit(file.get() < 0 ? 1 : 0);  // without closing the file
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_THAT(open_and_read(path_), HasSubstr("h5clear -s " + path_));
}

TEST_F(BadFiles, AFlippedBitInAChunkIsAChecksumError) {
  std::string bytes = test::read_bytes(path_);
  // The features are by far the largest part, so the middle of the file lies in one of their
  // chunks.
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 0x10);
  test::write_bytes(path_, bytes);
  EXPECT_THAT(open_and_read(path_), AllOf(HasSubstr("bad.h5: column"), HasSubstr("chunk"),
                                          HasSubstr("checksum (fletcher32) does not match")));
}

TEST_F(BadFiles, FutureVersionAndOtherFormatsAreRefused) {
  const std::int64_t version = 2;
  replace_attribute("format_version", H5T_STD_I64LE, &version);
  EXPECT_THAT(open_and_read(path_),
              AllOf(HasSubstr("format version 2"), HasSubstr("reads up to 1")));
}

TEST_F(BadFiles, AttributesAreCheckedForPresenceAndType) {
  const float step = 1.0F;
  replace_attribute("step_length_s", H5T_IEEE_F32LE, &step);
  EXPECT_THAT(open_and_read(path_), HasSubstr("attribute step_length_s is not of type f64"));
  replace_attribute("step_length_s", H5T_IEEE_F64LE, nullptr);
  EXPECT_THAT(open_and_read(path_), HasSubstr("attribute step_length_s is missing"));
  const double negative = -1;
  replace_attribute("step_length_s", H5T_IEEE_F64LE, &negative);
  EXPECT_THAT(open_and_read(path_), HasSubstr("expected positive numbers"));
}

TEST_F(BadFiles, AMissingColumnIsNamed) {
  change([](hid_t file) { H5Ldelete(file, "nodes/xy_m", H5P_DEFAULT); });
  EXPECT_THAT(open_and_read(path_), HasSubstr("nodes/xy_m is missing"));
  change([](hid_t file) { H5Ldelete(file, "nodes", H5P_DEFAULT); });
  EXPECT_THAT(open_and_read(path_), HasSubstr("nodes is missing"));
}

TEST_F(BadFiles, ExternalAndSoftLinksAreRefused) {
  change([](hid_t file) {
    H5Ldelete(file, "nodes/xy_m", H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "/x", file, "nodes/xy_m", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(open_and_read(path_), HasSubstr("nodes/xy_m is a soft or external link"));
  change([](hid_t file) {
    H5Ldelete(file, "nodes/xy_m", H5P_DEFAULT);
    H5Lcreate_soft("/nodes/features", file, "nodes/xy_m", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(open_and_read(path_), HasSubstr("nodes/xy_m is a soft or external link"));
}

TEST_F(BadFiles, WrongTypesAreRefused) {
  const auto rows = static_cast<hsize_t>(num_nodes());
  replace("nodes/vehicle_id", H5T_STD_I64LE, {rows}, nullptr);
  EXPECT_THAT(open_and_read(path_),
              HasSubstr("nodes/vehicle_id has elements of 8 bytes (integers), expected u32"));
}

TEST_F(BadFiles, WrongShapesAreRefused) {
  const auto rows = static_cast<hsize_t>(num_nodes());
  replace("nodes/xy_m", H5T_IEEE_F32LE, {rows, 3}, nullptr);
  EXPECT_THAT(open_and_read(path_), HasSubstr("chunks of 1024 x 3 elements"));
  replace("nodes/xy_m", H5T_IEEE_F32LE, {rows}, nullptr);
  EXPECT_THAT(open_and_read(path_), HasSubstr("nodes/xy_m"));
  replace("nodes/xy_m", H5T_IEEE_F32LE, {rows + 1, 2}, nullptr);
  EXPECT_THAT(open_and_read(path_),
              HasSubstr(fmt::format("has {} rows, expected {}", rows + 1, rows)));
}

TEST_F(BadFiles, AbsurdSizesAreRefusedBeforeMemoryIsTaken) {
  const std::int64_t before = peak_rss_bytes();
  replace("frames/time_s", H5T_IEEE_F64LE, {hsize_t{1} << 40}, nullptr);
  EXPECT_THAT(open_and_read(path_), HasSubstr("claims 1099511627776 rows"));
  // The claimed rows would take 8 TiB. The limit leaves room for the buffers of the library.
  EXPECT_LT(peak_rss_bytes() - before, 64 << 20);
}

TEST_F(BadFiles, FramesThatCostFarMoreMemoryThanTheFileIsLargeAreRefused) {
  constexpr hsize_t kFrames = 20'000'000;
  replace("frames/time_s", H5T_IEEE_F64LE, {kFrames}, nullptr);
  replace("frames/global_features", H5T_IEEE_F32LE, {kFrames, kNumGlobalFeatures}, nullptr);
  replace("frames/node_ptr", H5T_STD_I64LE, {kFrames + 1}, nullptr);
  replace("frames/edge_ptr", H5T_STD_I64LE, {kFrames + 1}, nullptr);
  // Makes the file so large that it could hold any one of these columns, compressed, if all values
  // were zeros. The sum of the columns must be refused all the same.
  test::write_bytes(path_, test::read_bytes(path_) + std::string(8 << 20, '\0'));
  const std::int64_t before = peak_rss_bytes();
  EXPECT_THAT(open_and_read(path_), HasSubstr("its 20000000 frames take 305.2 MiB of memory"));
  EXPECT_LT(peak_rss_bytes() - before, 64 << 20);
}

TEST_F(BadFiles, ChunksThatWereNeverWrittenAreRefused) {
  const auto rows = static_cast<hsize_t>(num_nodes());
  replace("nodes/vehicle_id", H5T_STD_U32LE, {rows}, nullptr);
  EXPECT_THAT(open_and_read(path_), HasSubstr("0 bytes are stored"));
}

TEST_F(BadFiles, UnknownFiltersAreRefused) {
  const auto rows = static_cast<hsize_t>(num_nodes());
  const std::vector<std::uint32_t> ids(rows, 1);
  replace("nodes/vehicle_id", H5T_STD_U32LE, {rows}, ids.data(),
          [](hid_t p) { H5Pset_scaleoffset(p, H5Z_SO_INT, H5Z_SO_INT_MINBITS_DEFAULT); });
  EXPECT_THAT(open_and_read(path_), HasSubstr("uses the filter unknown (id 6)"));
}

TEST_F(BadFiles, HugeChunksAreRefused) {
  h5::enter();
  change([](hid_t file) {
    H5Ldelete(file, "nodes/vehicle_id", H5P_DEFAULT);
    const std::array<hsize_t, 1> size{100};
    const std::array<hsize_t, 1> unlimited{H5S_UNLIMITED};
    const std::array<hsize_t, 1> chunk{hsize_t{1} << 28};
    const h5::Dataspace space(H5Screate_simple(1, size.data(), unlimited.data()));
    const h5::Properties properties(H5Pcreate(H5P_DATASET_CREATE));
    H5Pset_chunk(properties.get(), 1, chunk.data());
    const h5::Dataset dataset(H5Dcreate2(file, "nodes/vehicle_id", H5T_STD_U32LE, space.get(),
                                         H5P_DEFAULT, properties.get(), H5P_DEFAULT));
    ASSERT_GE(dataset.get(), 0);
  });
  EXPECT_THAT(open_and_read(path_), HasSubstr("at most 64 MiB"));
}

TEST_F(BadFiles, NanIsFoundWithItsPlace) {
  set_element("nodes/features", H5T_NATIVE_FLOAT, {5, 3}, std::numeric_limits<float>::quiet_NaN());
  EXPECT_THROW(static_cast<void>(DatasetReader(path_).read_frames(0, 60)), DataError);
  try {
    static_cast<void>(DatasetReader(path_).read_frames(0, 60));
  } catch (const DataError& error) {
    EXPECT_THAT(error.what(), HasSubstr("nodes/features: row 5 has nan at index 3"));
  }
}

TEST_F(BadFiles, DanglingEdgesAreFoundWithTheirPlace) {
  set_element("edges/src", H5T_NATIVE_INT, {7}, 1000);
  EXPECT_THAT(
      [&] { static_cast<void>(DatasetReader(path_).read_frames(0, 60)); },
      testing::ThrowsMessage<DataError>(HasSubstr("starts at node 1000, but the frame has")));
}

TEST_F(BadFiles, DegreesThatDoNotAddUpAreFound) {
  set_element("nodes/in_degree", H5T_NATIVE_USHORT, {0}, static_cast<unsigned short>(60000));
  EXPECT_THAT([&] { static_cast<void>(DatasetReader(path_).read_frames(0, 60)); },
              testing::ThrowsMessage<DataError>(HasSubstr("the in-degrees of frame 0")));
}

TEST_F(BadFiles, DecreasingPointersAreFound) {
  set_element("frames/node_ptr", H5T_NATIVE_LLONG, {5}, 1LL << 40);
  EXPECT_THAT(open_and_read(path_), HasSubstr("frames/node_ptr: frame 4"));
  set_element("frames/node_ptr", H5T_NATIVE_LLONG, {0}, 1LL);
  EXPECT_THAT(open_and_read(path_), HasSubstr("frames/node_ptr runs from 1"));
}

TEST_F(BadFiles, EpisodesThatDoNotCoverTheFramesAreFound) {
  set_element("episodes/num_frames", H5T_NATIVE_LLONG, {0}, 59LL);
  EXPECT_THAT(open_and_read(path_), HasSubstr("episode 1 has"));
  set_element("episodes/num_frames", H5T_NATIVE_LLONG, {0}, 60LL);
  set_element("episodes/split", H5T_NATIVE_UCHAR, {1}, static_cast<unsigned char>(9));
  EXPECT_THAT(open_and_read(path_), HasSubstr("episode 1 has split 9"));
}

TEST_F(BadFiles, ADuplicateVehicleInAFrameIsFound) {
  const auto frames = DatasetReader(path_).read_frames(0, 1);
  ASSERT_GE(frames.vehicle_id.size(), 2U);
  set_element("nodes/vehicle_id", H5T_NATIVE_UINT, {1}, frames.vehicle_id[0]);
  // The first problem that find_problems() reports is that the content does not match its hash.
  EXPECT_THAT(open_and_read(path_), HasSubstr("content has the hash"));
}

}  // namespace
}  // namespace traffic::data
