/// The snapshot file: header, blobs that start at page borders, table of blobs.
///
/// Opening reads the header and the table and maps the blobs: it costs the same for a thousand
/// subscriptions as for ten million. The header and the table are always checked. Contents are
/// checked when the file is small or when asked: against their checksums, which find damage, and
/// then number by number (base/claims.h), so that a file made to harm is refused as well.
///
/// A small file is copied before it is checked: what was checked cannot change. A larger one is
/// mapped, and must not be written to in place; saving replaces it by another file.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace nearcast {

constexpr std::array<char, 8> kSnapshotMagic = {'N', 'E', 'A', 'R', 'C', 'A', 'S', 'T'};
constexpr std::uint32_t kSnapshotVersion = 7;
constexpr std::size_t kBlobAlignment = 4096;
constexpr std::uint64_t kAlwaysVerifyUpTo = 64ull << 20;
constexpr std::uint64_t kCopyUpTo = 1ull << 20;

struct SnapshotHeader {
  std::array<char, 8> magic = kSnapshotMagic;
  std::uint32_t version = kSnapshotVersion;
  std::uint32_t blob_count = 0;
  std::uint64_t table_offset = 0;
  std::uint64_t file_size = 0;
  std::uint64_t table_checksum = 0;
  std::uint64_t header_checksum = 0;  ///< of all fields before it
};

struct BlobRow {
  std::uint64_t offset = 0;
  std::uint64_t count = 0;  ///< bytes
  std::uint64_t element_size = 0;
  std::uint64_t checksum = 0;
};

std::uint64_t checksum(const void* bytes, std::size_t count);

}  // namespace nearcast
