#include "nearcast/snapshot/writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* action) {
  throw Error(ErrorKind::kSnapshot, "snapshot '" + path + "': could not " + action,
              std::strerror(errno));
}

}  // namespace

FileWriter::FileWriter(std::string path) : path_(std::move(path)) {
  static std::atomic<std::uint64_t> writers{0};  // two threads may save to one path
  unfinished_ =
      path_ + ".unfinished-" + std::to_string(::getpid()) + "-" + std::to_string(++writers);

  file_ = ::open(unfinished_.c_str(), O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0644);
  if (file_ < 0) refuse(path_, "be created");
  const SnapshotHeader placeholder;
  put(&placeholder, sizeof(placeholder));
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(unfinished_.c_str());
}

void FileWriter::put(const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  position_ += count;
  while (count > 0) {
    const ssize_t written = ::write(file_, at, std::min<std::size_t>(count, std::size_t{1} << 30));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) refuse(path_, "be written");
    at += written;
    count -= static_cast<std::size_t>(written);
  }
}

void FileWriter::pad() {
  static constexpr char kZeros[kBlobAlignment] = {};
  put(kZeros, (kBlobAlignment - position_ % kBlobAlignment) % kBlobAlignment);
}

void FileWriter::blob(const void* bytes, std::size_t count, std::size_t element_size) {
  pad();
  rows_.push_back({position_, count, element_size, checksum(bytes, count)});
  put(bytes, count);
}

void FileWriter::finish() {
  pad();
  SnapshotHeader header;
  header.blob_count = static_cast<std::uint32_t>(rows_.size());
  header.table_offset = position_;
  const std::size_t table_bytes = rows_.size() * sizeof(BlobRow);
  put(rows_.data(), table_bytes);
  header.file_size = position_;
  header.table_checksum = checksum(rows_.data(), table_bytes);
  header.header_checksum = checksum(&header, offsetof(SnapshotHeader, header_checksum));
  if (::pwrite(file_, &header, sizeof(header), 0) != static_cast<ssize_t>(sizeof(header)) ||
      ::fsync(file_) != 0) {
    refuse(path_, "be written");
  }
  ::close(file_);
  file_ = -1;
  if (std::rename(unfinished_.c_str(), path_.c_str()) != 0) {
    const int reason = errno;
    ::unlink(unfinished_.c_str());
    errno = reason;
    refuse(path_, "be put in place");
  }
}

}  // namespace nearcast
