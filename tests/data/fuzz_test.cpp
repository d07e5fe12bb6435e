/// Reads data set files with random damage. The reader may refuse or read a damaged file, but it
/// must neither crash nor run out of memory.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/processes.h"
#include "synthetic.h"
#include "traffic/core/error.h"
#include "traffic/core/random.h"
#include "traffic/data/reader.h"
#include "traffic/data/verify.h"

namespace traffic::data {
namespace {

using test::TempDir;

void mutate(std::string& bytes, Rng& rng) {
  const auto at = [&] { return static_cast<std::size_t>(rng.uniform_int(bytes.size())); };
  switch (rng.uniform_int(5)) {
    case 0:  // flips a bit
      bytes[at()] ^= static_cast<char>(1U << rng.uniform_int(8));
      break;
    case 1:  // overwrites some bytes at random
      for (std::uint64_t i = rng.uniform_int(16) + 1; i > 0; --i) {
        bytes[at()] = static_cast<char>(rng.next_u64());
      }
      break;
    case 2: {  // overwrites a range with one value
      const std::size_t from = at();
      const std::size_t length = std::min<std::size_t>(rng.uniform_int(512), bytes.size() - from);
      std::fill_n(bytes.begin() + static_cast<std::ptrdiff_t>(from), length,
                  static_cast<char>(rng.uniform_int(2) * 255));
      break;
    }
    case 3:  // cuts off the end
      bytes.resize(1 + at());
      break;
    default: {  // copies a piece of the file to another place
      const std::string piece = bytes.substr(at(), rng.uniform_int(256));
      const std::size_t to = at();
      bytes.replace(to, std::min(piece.size(), bytes.size() - to),
                    piece.substr(0, bytes.size() - to));
    }
  }
}

/// Exit codes of the child: 0 if it read the file, 10 if the reader refused it.
int read_everything(const std::string& path) {
  try {
    const DatasetReader reader(path);
    return find_problems(reader).empty() ? 0 : 10;
  } catch (const Error&) {
    return 10;
  }
}

/// Reads randomly changed copies of a file in a child process. @return the status of the child
int run_child(const std::string& original, const std::string& path, std::uint64_t seed,
              int rounds) {
  const pid_t child = traffic::test::fork_child();
  if (child == 0) {
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)  // sanitizers map terabytes
    const rlimit memory{2ULL << 30, 2ULL << 30};
    setrlimit(RLIMIT_AS, &memory);
#endif
    const rlimit seconds{60, 60};
    setrlimit(RLIMIT_CPU, &seconds);
    Rng rng(seed);
    int refused = 0;
    for (int i = 0; i < rounds; ++i) {
      std::string bytes = original;
      mutate(bytes, rng);
      if (i % 3 == 0) mutate(bytes, rng);
      test::write_bytes(path, bytes);
      if (read_everything(path) == 10) ++refused;
    }
    // Mutations of unused bytes may go unnoticed, but not many.
    _exit(refused > rounds / 2 ? 0 : 11);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(Fuzz, DamagedFilesNeverCrashTheReader) {
  const TempDir dir;
  test::write_file(dir / "good.h5", {{{.seed = 1, .frames = 20, .vehicles = 12}}});
  const std::string original = test::read_bytes(dir / "good.h5");
  for (std::uint64_t seed = 0; seed < 8; ++seed) {
    EXPECT_EQ(run_child(original, dir / "bad.h5", seed, 150), 0) << "seed " << seed;
  }
}

}  // namespace
}  // namespace traffic::data
