#include "traffic/report/tensorboard.h"

#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>

#include "tensorboard_event.pb.h"
#include "traffic/core/error.h"
#include "traffic/core/process.h"

namespace traffic::report {
namespace {

double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

/// CRC-32C (Castagnoli), bit by bit reversed; records are short and few.
std::uint32_t crc32c(const char* bytes, std::size_t size) {
  constexpr std::uint32_t kPolynomial = 0x82F63B78U;
  std::uint32_t crc = 0xFFFFFFFFU;
  for (std::size_t i = 0; i < size; ++i) {
    crc ^= static_cast<unsigned char>(bytes[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0U ? kPolynomial : 0U);
  }
  return ~crc;
}

/// TFRecord's masking, so that a checksum of data with checksums stays good.
std::uint32_t masked_crc(const char* bytes, std::size_t size) {
  const std::uint32_t crc = crc32c(bytes, size);
  return ((crc >> 15U) | (crc << 17U)) + 0xA282EAD8U;
}

}  // namespace

EventWriter::EventWriter(const std::filesystem::path& dir, std::int64_t resume_step) {
  std::error_code ignored;
  std::filesystem::create_directories(dir, ignored);
  const double now = unix_seconds();
  const auto path =
      dir / fmt::format("events.out.tfevents.{:.0f}.{}.{}", now, hostname(), getpid());
  file_.open(path, std::ios::binary);
  tensorboard::Event event;
  event.set_wall_time(now);
  event.set_file_version("brain.Event:2");
  bool written = write_record(event.SerializeAsString());
  if (resume_step >= 0) {
    event.set_step(resume_step + 1);
    event.mutable_session_log()->set_status(tensorboard::SessionLog::START);
    written = write_record(event.SerializeAsString()) && written;
  }
  if (!written) throw ResourceError("cannot write {}: choose another --run-dir", path.string());
}

bool EventWriter::add_scalars(std::int64_t step,
                              const std::vector<std::pair<std::string, double>>& values) {
  tensorboard::Event event;
  event.set_wall_time(unix_seconds());
  event.set_step(step);
  for (const auto& [tag, value] : values) {
    auto* entry = event.mutable_summary()->add_value();
    entry->set_tag(tag);
    entry->set_simple_value(static_cast<float>(value));
  }
  return write_record(event.SerializeAsString());
}

bool EventWriter::write_record(const std::string& bytes) {
  std::array<char, 8> length{};
  const std::uint64_t size = bytes.size();
  std::memcpy(length.data(), &size, sizeof(size));
  const std::uint32_t length_crc = masked_crc(length.data(), length.size());
  const std::uint32_t data_crc = masked_crc(bytes.data(), bytes.size());
  file_.clear();
  file_.write(length.data(), length.size());
  file_.write(reinterpret_cast<const char*>(&length_crc), sizeof(length_crc));
  file_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file_.write(reinterpret_cast<const char*>(&data_crc), sizeof(data_crc));
  file_.flush();
  return static_cast<bool>(file_);
}

}  // namespace traffic::report
