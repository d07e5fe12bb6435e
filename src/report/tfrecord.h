/// Encodes records of TensorBoard's event files (TFRecord format). EventWriter uses it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traffic::report {

/// CRC-32C (Castagnoli), RFC 3720.
std::uint32_t crc32c(std::string_view data);

/// Makes a record: the length of the data, the masked CRC of the length, the data, and the masked
/// CRC of the data. Numbers are little-endian.
/// Source: https://www.tensorflow.org/tutorials/load_data/tfrecord
std::string frame_tfrecord(std::string_view data);

}  // namespace traffic::report
