/// The hash function XXH3 with 64 bits, for checksums and for comparing the bytes of two ranks. It
/// does not protect against deliberate changes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace traffic {

std::uint64_t xxh3_64(std::span<const std::byte> bytes);
std::uint64_t xxh3_64(std::string_view text);

/// The value as sixteen hexadecimal digits.
std::string hex64(std::uint64_t value);

/// Computes xxh3_64() of data that several calls of update() add.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  void update(std::span<const std::byte> bytes);
  void update(std::string_view text);
  /// Hash of all bytes so far; update() may be called again afterwards.
  [[nodiscard]] std::uint64_t digest() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace traffic
