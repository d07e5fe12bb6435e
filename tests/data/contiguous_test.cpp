/// Reads data set files whose columns have no chunks and filters. Other programs, such as h5repack,
/// may write such files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <hdf5.h>

#include <filesystem>
#include <vector>

#include "data/hdf5_handle.h"
#include "synthetic.h"
#include "traffic/data/reader.h"
#include "traffic/data/verify.h"

namespace traffic::data {
namespace {

using test::TempDir;
using testing::HasSubstr;
using testing::IsEmpty;

/// Stores a column of the file contiguously.
void make_contiguous(hid_t file, const std::string& name) {
  const h5::Dataset old(h5::check(H5Dopen2(file, name.c_str(), H5P_DEFAULT), name));
  const h5::Datatype type(h5::check(H5Dget_type(old.get()), name));
  const h5::Dataspace space(h5::check(H5Dget_space(old.get()), name));
  std::vector<hsize_t> size(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space.get())));
  H5Sget_simple_extent_dims(space.get(), size.data(), nullptr);
  const auto count = static_cast<std::size_t>(H5Sget_simple_extent_npoints(space.get()));
  std::vector<std::byte> values(count * H5Tget_size(type.get()));
  h5::check(H5Dread(old.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
  h5::check(H5Ldelete(file, name.c_str(), H5P_DEFAULT), name);
  const h5::Dataspace fixed(H5Screate_simple(static_cast<int>(size.size()), size.data(), nullptr));
  const h5::Dataset plain(h5::check(H5Dcreate2(file, name.c_str(), type.get(), fixed.get(),
                                               H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                    name));
  h5::check(H5Dwrite(plain.get(), type.get(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()), name);
}

class Contiguous : public testing::Test {
 protected:
  void SetUp() override {
    const std::vector<test::EpisodeSpec> episodes{{{.seed = 1, .frames = 60, .vehicles = 40}},
                                                  {{.seed = 2, .frames = 200}}};
    test::write_file(dir_ / "chunked.h5", episodes);
    std::filesystem::copy_file(dir_ / "chunked.h5", dir_ / "plain.h5");
    h5::enter();
    const h5::File file(H5Fopen((dir_ / "plain.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT));
    for (const ColumnSpec& spec : column_specs()) make_contiguous(file.get(), spec.path());
  }
  TempDir dir_;
};

TEST_F(Contiguous, ContainsTheSameValuesAsChunks) {
  const DatasetReader chunked(dir_ / "chunked.h5");
  const DatasetReader plain(dir_ / "plain.h5");
  for (const auto& [first, count] : {std::pair<std::int64_t, std::int64_t>{0, 260}, {17, 40}}) {
    const auto a = chunked.read_frames(first, count);
    const auto b = plain.read_frames(first, count);
    EXPECT_EQ(a.vehicle_id, b.vehicle_id);
    EXPECT_EQ(a.node_features, b.node_features);
    EXPECT_EQ(a.edge_ptr, b.edge_ptr);
    EXPECT_EQ(a.edge_src, b.edge_src);
    EXPECT_EQ(a.edge_features, b.edge_features);
    EXPECT_EQ(chunked.read_times(first, count), plain.read_times(first, count));
  }
  EXPECT_FALSE(plain.storage(Column::kNodeFeatures).deflate);
  // The file has a hash of its content, but no checksums of chunks.
  EXPECT_THAT(find_problems(plain), IsEmpty());
}

TEST_F(Contiguous, AFlippedBitIsFoundByTheHashOfTheContent) {
  std::string bytes = test::read_bytes(dir_ / "plain.h5");
  const DatasetReader plain(dir_ / "plain.h5");
  const auto ids = plain.read_frames(0, 1).vehicle_id;
  const std::string needle(reinterpret_cast<const char*>(ids.data()), 16);
  const auto at = bytes.rfind(needle);
  ASSERT_NE(at, std::string::npos);
  bytes[at + 13] = static_cast<char>(bytes[at + 13] ^ 1);
  test::write_bytes(dir_ / "flipped.h5", bytes);
  EXPECT_THAT(find_problems(DatasetReader(dir_ / "flipped.h5")),
              testing::ElementsAre(HasSubstr("content has the hash")));
}

TEST_F(Contiguous, AFileTruncatedDuringReadingIsAnErrorNotACrash) {
  const DatasetReader plain(dir_ / "plain.h5");
  std::filesystem::resize_file(dir_ / "plain.h5", 1000);
  EXPECT_THAT([&] { static_cast<void>(plain.read_frames(0, 260)); },
              testing::ThrowsMessage<DataError>(HasSubstr("cut since it was opened")));
}

}  // namespace
}  // namespace traffic::data
