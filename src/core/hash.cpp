// The hash function XXH3 with 64 bits.
#include "traffic/core/hash.h"

#include <fmt/format.h>
#include <xxhash.h>

#include <new>

namespace traffic {

std::uint64_t xxh3_64(std::span<const std::byte> bytes) {
  return XXH3_64bits(bytes.data(), bytes.size());
}
std::uint64_t xxh3_64(std::string_view text) { return xxh3_64(std::as_bytes(std::span(text))); }

std::string hex64(std::uint64_t value) { return fmt::format("{:016x}", value); }

struct Hasher::Impl {
  Impl() : state(XXH3_createState()) {
    if (state == nullptr) throw std::bad_alloc();
    XXH3_64bits_reset(state);
  }
  ~Impl() { XXH3_freeState(state); }
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;
  XXH3_state_t* state;
};

Hasher::Hasher() : impl_(std::make_unique<Impl>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

void Hasher::update(std::span<const std::byte> bytes) {
  XXH3_64bits_update(impl_->state, bytes.data(), bytes.size());
}
void Hasher::update(std::string_view text) { update(std::as_bytes(std::span(text))); }
std::uint64_t Hasher::digest() const { return XXH3_64bits_digest(impl_->state); }

}  // namespace traffic
