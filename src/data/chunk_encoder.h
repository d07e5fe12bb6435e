/// Chunks on their way into a file: packed in threads, handed back in the order in which they came,
/// so that the file does not depend on the number of threads.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "chunk_codec.h"

namespace traffic::data {

struct Chunk {
  std::size_t column = 0;
  std::int64_t first_row = 0;
  std::int64_t rows = 0;  ///< that mean something; the last chunk is filled up with zeros
  std::size_t element_size = 1;
  std::vector<std::byte> bytes;  ///< as in memory; once packed, as in the file
};

/// Used by one thread.
class ChunkEncoder {
 public:
  /// @param num_threads 0: chunks are packed where they are given
  ChunkEncoder(int compression_level, int num_threads);
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  void give(Chunk chunk);
  /// The next packed chunk. Waits for it while more are on their way than the threads need, or if
  /// all are to be had.
  /// @return false: none is ready, or all have been taken
  bool take(Chunk& packed, bool all);

 private:
  struct Job {
    Chunk chunk;
    bool done = false;
    std::exception_ptr failure;
  };
  void work();

  int level_;
  std::size_t most_on_their_way_;
  ChunkPacker packer_;  ///< of the caller's thread
  std::mutex mutex_;
  std::condition_variable given_;
  std::condition_variable packed_;
  std::deque<Job> jobs_;  ///< in the order in which they came; their addresses stay
  std::deque<Job*> todo_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace traffic::data
