/// ChunkEncoder compresses chunks of columns in several threads. It returns them in the order in
/// which it received them, so that the written file does not depend on the number of threads.
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

/// A fixed number of rows of a column, the unit in which HDF5 stores and compresses them.
struct Chunk {
  std::size_t column = 0;      ///< index of the column in the file
  std::int64_t first_row = 0;  ///< index of the chunk's first row in the column
  std::int64_t rows = 0;  ///< rows with content; the last chunk of a column is padded with zeros
  std::size_t element_size = 1;  ///< in bytes
  std::vector<std::byte> bytes;  ///< before packing the rows, then the bytes that HDF5 stores
};

/// Only one thread may call give() and take().
class ChunkEncoder {
 public:
  /// @param num_threads number of compressing threads; with 0, give() compresses itself
  ChunkEncoder(int compression_level, int num_threads);
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  void give(Chunk chunk);
  /// Takes the next packed chunk. If this chunk is not ready, waits for it in two cases: if `all`
  /// is true, or if so many chunks are queued that the threads have work while the caller waits.
  /// @return false if no chunk is ready, or all chunks have been taken
  bool take(Chunk& packed, bool all);

 private:
  struct Job {
    Chunk chunk;
    bool done = false;
    std::exception_ptr failure;
  };
  void work();

  int level_;
  std::size_t most_on_their_way_;  ///< take() waits if more chunks than this are queued
  ChunkPacker packer_;             ///< packer of the caller's thread
  std::mutex mutex_;
  std::condition_variable given_;
  std::condition_variable packed_;
  std::deque<Job> jobs_;   ///< in the order of arrival; a deque, so that addresses stay valid
  std::deque<Job*> todo_;  ///< jobs that no thread has begun
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace traffic::data
