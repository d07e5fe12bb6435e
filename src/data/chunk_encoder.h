/// Packs chunks in threads and returns them in the order of their arrival, so that the file does
/// not depend on the number of threads.
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
  std::int64_t rows = 0;  ///< rows with content; zeros fill up the last chunk
  std::size_t element_size = 1;
  std::vector<std::byte> bytes;  ///< decoded bytes; stored bytes after packing
};

/// For use by one thread.
class ChunkEncoder {
 public:
  /// @param num_threads 0: the caller's thread packs
  ChunkEncoder(int compression_level, int num_threads);
  ~ChunkEncoder();
  ChunkEncoder(const ChunkEncoder&) = delete;
  ChunkEncoder& operator=(const ChunkEncoder&) = delete;

  void give(Chunk chunk);
  /// Takes the next packed chunk. Waits for it if more chunks are queued than the threads need, or
  /// if the caller asks for all.
  /// @return false if no chunk is ready, or all have been taken
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
  ChunkPacker packer_;  ///< packer of the caller's thread
  std::mutex mutex_;
  std::condition_variable given_;
  std::condition_variable packed_;
  std::deque<Job> jobs_;  ///< in the order of arrival; a deque keeps their addresses
  std::deque<Job*> todo_;
  bool stop_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace traffic::data
