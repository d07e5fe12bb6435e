// Checks that the loader refuses files that save() would never write. Their hashes are correct, so
// the loader must detect them by their structure, before it allocates memory for their values.
#include <gmock/gmock.h>
#include <hdf5.h>
#include <sys/wait.h>

#include <cstring>
#include <functional>

#include "checkpoint/fixtures.h"
#include "checkpoint/header.h"
#include "support/processes.h"
#include "traffic/checkpoint/file.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"
#include "traffic/core/random.h"

namespace traffic::checkpoint {
namespace {

using ::testing::HasSubstr;

/// Writes a correct header for the bytes that follow it.
void sign(std::vector<char>& bytes) {
  const auto payload = std::as_bytes(std::span(bytes)).subspan(kHeaderBytes);
  const Header header = make_header(1, payload);
  std::memcpy(bytes.data(), &header, sizeof(header));
}

class HostileFileTest : public FolderTest {
 protected:
  /// Maximum memory for loading a file of 10 kB. It is far more than the loader needs, even with a
  /// sanitizer, and far less than the sizes that damaged 32-bit and 64-bit numbers claim.
  static constexpr std::int64_t kMemoryAllowance = std::int64_t{512} << 20;

  std::filesystem::path path_ = dir_ / "hostile.h5";

  /// Writes an HDF5 file with the given content after a correct header.
  void make_file(const std::function<void(hid_t file)>& fill) {
    const hid_t create = H5Pcreate(H5P_FILE_CREATE);
    H5Pset_userblock(create, kHeaderBytes);
    const hid_t file = H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, create, H5P_DEFAULT);
    fill(file);
    H5Fclose(file);
    H5Pclose(create);
    std::vector<char> bytes = read_bytes(path_);
    sign(bytes);
    write_bytes(path_, bytes);
  }

  static void add_dataset(hid_t file, const char* name, hid_t type,
                          const std::vector<hsize_t>& dims, hid_t create = H5P_DEFAULT) {
    const hid_t space = H5Screate_simple(static_cast<int>(dims.size()), dims.data(), nullptr);
    H5Dclose(H5Dcreate2(file, name, type, space, H5P_DEFAULT, create, H5P_DEFAULT));
    H5Sclose(space);
  }

  /// Loads variants of a file. Each has up to four changed bytes, and correct hashes.
  void expect_no_crash(const std::vector<char>& whole) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
      const pid_t child = traffic::test::fork_child();
      if (child == 0) {
        const std::int64_t limit_bytes = peak_rss_bytes() + kMemoryAllowance;
        Rng rng(seed);
        for (int trial = 0; trial < 250; ++trial) {
          std::vector<char> bytes = whole;
          const auto changes = 1 + rng.uniform_int(4);
          for (std::uint64_t i = 0; i < changes; ++i) {
            const auto at = kHeaderBytes + rng.uniform_int(bytes.size() - kHeaderBytes);
            bytes[at] = static_cast<char>(rng.uniform_int(256));
          }
          sign(bytes);
          write_bytes(path_, bytes);
          (void)refusal();
        }
        _exit(peak_rss_bytes() < limit_bytes ? 0 : 1);
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "seed " << seed << ": " << status;
    }
  }

  std::string refusal() {
    try {
      (void)load(path_);
    } catch (const CheckpointError& error) {
      return error.what();
    }
    return "accepted";
  }
};

TEST_F(HostileFileTest, RefusesAHugeShapeWithoutStorage) {
  make_file([](hid_t file) { add_dataset(file, "w", H5T_IEEE_F32LE, {1ULL << 40}); });
  EXPECT_THAT(refusal(), HasSubstr("'w' is of shape [1099511627776]"));
  make_file([](hid_t file) {
    add_dataset(file, "w", H5T_IEEE_F32LE, {1ULL << 31, 1ULL << 31, 0});
  });
  EXPECT_THAT(refusal(), HasSubstr("'w' is of shape"));
}

TEST_F(HostileFileTest, RefusesASmallShapeWithoutStorage) {
  make_file([](hid_t file) { add_dataset(file, "w", H5T_IEEE_F32LE, {4}); });
  EXPECT_THAT(refusal(), HasSubstr("'w' is 0 bytes, expected: 16 bytes"));
}

TEST_F(HostileFileTest, RefusesCompressedOrChunkedValues) {
  make_file([](hid_t file) {
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t chunk = 1000;
    H5Pset_chunk(create, 1, &chunk);
    H5Pset_deflate(create, 9);
    add_dataset(file, "bomb", H5T_STD_U8LE, {1000}, create);
    H5Pclose(create);
  });
  EXPECT_THAT(refusal(), HasSubstr("plain contiguous storage"));
}

TEST_F(HostileFileTest, RefusesValuesInAnotherFile) {
  make_file([](hid_t file) {
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_external(create, "/etc/hostname", 0, 4);
    add_dataset(file, "outside", H5T_STD_U8LE, {4}, create);
    H5Pclose(create);
  });
  EXPECT_THAT(refusal(), HasSubstr("in another file"));
}

TEST_F(HostileFileTest, RefusesLinks) {
  make_file([](hid_t file) { H5Lcreate_soft("/x", file, "soft", H5P_DEFAULT, H5P_DEFAULT); });
  EXPECT_THAT(refusal(), HasSubstr("'soft' is a soft link"));
  make_file([](hid_t file) {
    H5Lcreate_external("/etc/hostname", "/x", file, "outside", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(refusal(), HasSubstr("'outside' is a link to another file"));
}

TEST_F(HostileFileTest, RefusesAGroupThatContainsItself) {
  make_file([](hid_t file) {
    const hid_t group = H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Lcreate_hard(file, "/", group, "again", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(group);
  });
  EXPECT_THAT(refusal(), HasSubstr("nested too deeply"));
}

TEST_F(HostileFileTest, ManyNamesForOneValueDoNotMultiplyMemory) {
  make_file([](hid_t file) {
    const hsize_t size = 100'000;
    const std::vector<char> data(size);
    const hid_t space = H5Screate_simple(1, &size, nullptr);
    const hid_t dataset =
        H5Dcreate2(file, "value", H5T_STD_U8LE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, data.data());
    H5Dclose(dataset);
    H5Sclose(space);
    H5Lcreate_hard(file, "value", file, "value_again", H5P_DEFAULT, H5P_DEFAULT);
  });
  EXPECT_THAT(refusal(), HasSubstr("no more than the"));
}

TEST_F(HostileFileTest, RefusesForeignTypes) {
  for (const hid_t type : {H5T_IEEE_F32BE, H5T_STD_I16LE, H5T_STD_REF_OBJ}) {
    make_file([&](hid_t file) { add_dataset(file, "w", type, {1}); });
    EXPECT_THAT(refusal(), HasSubstr("'w' is of an unknown type"));
  }
  make_file([](hid_t file) {
    const hid_t text = H5Tcopy(H5T_C_S1);
    H5Tset_size(text, H5T_VARIABLE);
    add_dataset(file, "w", text, {1});
    H5Tclose(text);
  });
  EXPECT_THAT(refusal(), HasSubstr("'w' is of an unknown type"));
}

TEST_F(HostileFileTest, RefusesNamedTypesAndBadNames) {
  make_file([](hid_t file) {
    const hid_t type = H5Tcopy(H5T_STD_I8LE);
    H5Tcommit2(file, "type", type, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Tclose(type);
  });
  EXPECT_THAT(refusal(), HasSubstr("neither group nor dataset"));
  make_file([](hid_t file) { add_dataset(file, "a b", H5T_STD_U8LE, {0}); });
  EXPECT_THAT(refusal(), HasSubstr("an invalid name"));
}

TEST_F(HostileFileTest, RefusesABoolThatIsNeitherZeroNorOne) {
  Snapshot snapshot;
  snapshot.put_tensor("mask", at::ones({64}, at::kBool));
  save(snapshot, path_);
  std::vector<char> bytes = read_bytes(path_);
  const std::string ones(64, '\1');
  const auto at = std::search(bytes.begin(), bytes.end(), ones.begin(), ones.end());
  ASSERT_NE(at, bytes.end());
  *at = '\2';
  sign(bytes);
  write_bytes(path_, bytes);
  EXPECT_THAT(refusal(), HasSubstr("'mask' is a bool tensor with other values"));
}

// Damages HDF5's own structures at random and corrects the hashes. The file may be refused or read,
// but loading must not crash or take much memory.
TEST_F(HostileFileTest, DamagedStructuresNeitherCrashNorExhaustMemory) {
  save(small_snapshot(1, 10), path_);
  expect_no_crash(read_bytes(path_));
}

// The older structures of HDF5 have no checksums, so damage gets further into the library.
TEST_F(HostileFileTest, DamagedOldStructuresNeitherCrashNorExhaustMemory) {
  make_file([](hid_t file) {
    H5Gclose(H5Gcreate2(file, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    const hid_t create = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_alloc_time(create, H5D_ALLOC_TIME_EARLY);
    for (const char* name : {"a", "g/b", "g/c"})
      add_dataset(file, name, H5T_IEEE_F32LE, {10}, create);
    H5Pclose(create);
  });
  ASSERT_EQ(load(path_).names().size(), 3);
  expect_no_crash(read_bytes(path_));
}

}  // namespace
}  // namespace traffic::checkpoint
