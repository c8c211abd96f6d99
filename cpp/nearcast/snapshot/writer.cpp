#include "nearcast/snapshot/writer.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "nearcast/base/errors.h"

namespace nearcast {
namespace {

[[noreturn]] void refuse(const std::string& path, const char* action) {
  throw Error(ErrorKind::kSnapshot, "snapshot '" + path + "': could not " + action,
              std::strerror(errno));
}

}  // namespace

FileWriter::FileWriter(const std::string& path) : path_(path), target_(path) {
  if (path_.find('\0') != std::string::npos) {
    throw Error(ErrorKind::kSnapshot, "snapshot '" + path_ + "': could not be created",
                "a path with a null character", "the path of a file");
  }
  choose_target();
  const std::size_t slash = target_.rfind('/');
  folder_ = slash == std::string::npos ? "." : target_.substr(0, slash + 1);
  // Two threads may save to one path, and an earlier process of this number may have been killed.
  static std::atomic<std::uint64_t> writers{0};
  const std::string begin = (slash == std::string::npos ? "" : folder_) + ".unfinished-" +
                            std::to_string(::getpid()) + "-";
  do {
    unfinished_ = begin + std::to_string(++writers);
    file_ = ::open(unfinished_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0644);
  } while (file_ < 0 && errno == EEXIST);
  if (file_ < 0) refuse(path_, "be created");
  position_ = sizeof(SnapshotHeader);  // which is written last
}

/// A link leads to the file that is replaced; what is no file is not replaced.
void FileWriter::choose_target() {
  struct stat status{};
  if (::lstat(target_.c_str(), &status) != 0) return;  // there is nothing yet, or open() says why
  if (S_ISLNK(status.st_mode)) {
    const std::unique_ptr<char, decltype(&std::free)> real(::realpath(target_.c_str(), nullptr),
                                                           &std::free);
    if (real == nullptr || ::lstat(real.get(), &status) != 0) refuse(path_, "follow its link");
    target_ = real.get();
  }
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorKind::kSnapshot, "snapshot '" + path_ + "': could not be written",
                S_ISDIR(status.st_mode) ? "a folder" : "a device, pipe or socket",
                "a file, or a path where nothing is");
  }
  mode_ = status.st_mode & 0777;
}

FileWriter::~FileWriter() {
  if (file_ < 0) return;
  ::close(file_);
  ::unlink(unfinished_.c_str());
}

void FileWriter::put(const void* bytes, std::size_t count) {
  const char* at = static_cast<const char*>(bytes);
  while (count > 0) {
    const ssize_t written = ::pwrite(file_, at, std::min<std::size_t>(count, std::size_t{1} << 30),
                                     static_cast<off_t>(position_));
    if (written < 0 && errno == EINTR) continue;
    if (written == 0) errno = ENOSPC;
    if (written <= 0) refuse(path_, "be written");
    at += written;
    position_ += static_cast<std::uint64_t>(written);
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
  position_ = 0;
  put(&header, sizeof(header));
  if (mode_ && ::fchmod(file_, *mode_) != 0) refuse(path_, "keep its permissions");
  if (::fsync(file_) != 0) refuse(path_, "be written");
  if (std::rename(unfinished_.c_str(), target_.c_str()) != 0) refuse(path_, "be put in place");
  const int file = std::exchange(file_, -1);  // from here on nothing is left to remove
  if (::close(file) != 0) refuse(path_, "be written");
  keep_name();
}

/// The name is in its folder, which must reach the disk as well. Some file systems cannot be told.
void FileWriter::keep_name() const {
  const int folder = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return;
  ::fsync(folder);
  ::close(folder);
}

}  // namespace nearcast
