/// How a structure writes itself into a snapshot and reads itself back.
///
/// A snapshot is a sequence of blobs in a fixed order. A structure writes its scalars as one small
/// blob and each of its arrays as another; reading happens in the same order. The reader hands out
/// file positions, so that a large array is mapped, not read (base/array.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "nearcast/base/errors.h"

namespace nearcast {

class ArchiveWriter {
 public:
  virtual ~ArchiveWriter() = default;
  virtual void blob(const void* bytes, std::size_t count, std::size_t element_size) = 0;

  template <typename T>
  void value(const T& item) {
    static_assert(std::is_trivially_copyable_v<T>);
    blob(&item, sizeof(T), sizeof(T));
  }
};

/// Where one blob lies: in memory for reading, and in a file that is open for mapping.
struct Blob {
  const std::byte* bytes;
  std::size_t count;
  int file;                 ///< -1: it must be copied, not mapped
  std::size_t file_offset;  ///< a multiple of the page size
};

/// A reader that is_checking() wants every structure that it fills to be checked: whatever stands
/// in the file, no number leads outside and no place has two owners (base/claims.h).
class ArchiveReader {
 public:
  virtual ~ArchiveReader() = default;
  virtual bool is_checking() const = 0;
  /// The next blob. Throws a snapshot error unless its elements have this size.
  virtual Blob blob(std::size_t element_size) = 0;

  template <typename T>
  T value() {
    static_assert(std::is_trivially_copyable_v<T>);
    const Blob source = blob(sizeof(T));
    if (source.count != sizeof(T)) {
      throw Error(ErrorKind::kSnapshot, "snapshot: a field has the wrong size");
    }
    T item;
    std::memcpy(&item, source.bytes, sizeof(T));
    return item;
  }
};

}  // namespace nearcast
