// Encodes records of TensorBoard's event files (tfrecord.h).
#include "tfrecord.h"

#include <array>
#include <bit>

namespace traffic::report {
namespace {

static_assert(std::endian::native == std::endian::little, "records are little-endian");

constexpr std::uint32_t kReversedPolynomial = 0x82F63B78;

constexpr std::array<std::uint32_t, 256> make_table() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t byte = 0; byte < table.size(); ++byte) {
    std::uint32_t crc = byte;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? kReversedPolynomial : 0);
    }
    table[byte] = crc;
  }
  return table;
}

constexpr auto kTable = make_table();

/// Converts a CRC to the masked CRC of the TFRecord format. The format masks CRCs, because a CRC
/// over data that contain CRCs detects fewer errors.
std::uint32_t masked(std::uint32_t crc) { return std::rotr(crc, 15) + 0xA282EAD8U; }

template <typename Integer>
void append_bytes(std::string& out, Integer value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof(value));
}

}  // namespace

std::uint32_t crc32c(std::string_view data) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const char c : data) crc = kTable[(crc ^ static_cast<unsigned char>(c)) & 0xFF] ^ (crc >> 8);
  return ~crc;
}

std::string frame_tfrecord(std::string_view data) {
  std::string record;
  append_bytes(record, static_cast<std::uint64_t>(data.size()));
  append_bytes(record, masked(crc32c(record)));
  record += data;
  append_bytes(record, masked(crc32c(data)));
  return record;
}

}  // namespace traffic::report
