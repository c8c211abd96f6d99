#include "nearcast/snapshot/reader.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "nearcast/base/errors.h"

namespace nearcast {

FileReader::FileReader(std::string path, Verify verify) : path_(std::move(path)) {
  try {
    open_file();
    read_header();
    is_checking_ =
        verify == Verify::kAlways || (verify == Verify::kIfSmall && size_ <= kAlwaysVerifyUpTo);
    if (is_checking_) verify_contents();
  } catch (...) {
    release();
    throw;
  }
}

FileReader::~FileReader() { release(); }

void FileReader::release() {
  if (bytes_ != nullptr && copy_.empty()) ::munmap(const_cast<std::byte*>(bytes_), size_);
  if (file_ >= 0) ::close(file_);
}

void FileReader::refuse(const std::string& what, const std::string& got, const std::string& wanted,
                        const std::string& hint) const {
  throw Error(ErrorKind::kSnapshot, "snapshot '" + path_ + "': " + what, got, wanted, hint);
}

void FileReader::open_file() {
  if (path_.find('\0') != std::string::npos) {
    refuse("could not be opened", "a path with a null character", "the path of a file");
  }
  // O_NONBLOCK: a pipe without a writer is refused below instead of being waited for.
  file_ = ::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (file_ < 0) refuse("could not be opened", std::strerror(errno));
  size_ = size_now();
  if (size_ < sizeof(SnapshotHeader)) {
    refuse("is too short", std::to_string(size_) + " bytes", "a nearcast snapshot");
  }
  size_ <= kCopyUpTo ? copy_file() : map_file();
}

std::uint64_t FileReader::size_now() const {
  struct stat status{};
  if (::fstat(file_, &status) != 0) refuse("could not be read", std::strerror(errno));
  if (!S_ISREG(status.st_mode)) refuse("is not a file");
  return static_cast<std::uint64_t>(status.st_size);
}

void FileReader::copy_file() {
  copy_.resize(size_);
  for (std::size_t done = 0; done < size_;) {
    const ssize_t count =
        ::pread(file_, copy_.data() + done, size_ - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) refuse("could not be read", std::strerror(errno));
    if (count == 0) refuse("is not whole", "a file that became shorter", "one that stays as it is");
    done += static_cast<std::size_t>(count);
  }
  bytes_ = copy_.data();
}

void FileReader::map_file() {
  void* mapped = ::mmap(nullptr, size_, PROT_READ, MAP_SHARED, file_, 0);
  if (mapped == MAP_FAILED) refuse("could not be mapped", std::strerror(errno));
  bytes_ = static_cast<const std::byte*>(mapped);
}

void FileReader::read_header() {
  SnapshotHeader header;
  std::memcpy(&header, bytes_, sizeof(header));
  if (header.magic != kSnapshotMagic)
    refuse("is not a snapshot", "another kind of file", "a nearcast snapshot");
  if (header.version > kSnapshotVersion) {
    refuse("was written by a newer nearcast", "format version " + std::to_string(header.version),
           "at most " + std::to_string(kSnapshotVersion), "upgrade nearcast to open it");
  }
  if (header.version == 0 ||
      header.header_checksum != checksum(&header, offsetof(SnapshotHeader, header_checksum))) {
    refuse("is damaged", "a header that does not fit its checksum", "the header as it was written");
  }
  if (header.version < kSnapshotVersion) {
    refuse("was written by an older nearcast", "format version " + std::to_string(header.version),
           "format version " + std::to_string(kSnapshotVersion),
           "subscribe anew and save, or open it with the version that wrote it");
  }
  if (header.file_size != size_) {
    refuse("is not whole", std::to_string(size_) + " bytes",
           std::to_string(header.file_size) + " bytes", "was it cut off while being copied?");
  }
  read_table(header);
}

void FileReader::read_table(const SnapshotHeader& header) {
  const std::uint64_t table_bytes = std::uint64_t{header.blob_count} * sizeof(BlobRow);
  if (header.table_offset % alignof(BlobRow) != 0 || header.table_offset > size_ ||
      table_bytes > size_ - header.table_offset ||
      header.table_checksum != checksum(bytes_ + header.table_offset, table_bytes)) {
    refuse("is damaged", "a table that does not fit its checksum", "the table as it was written");
  }
  rows_ = {reinterpret_cast<const BlobRow*>(bytes_ + header.table_offset), header.blob_count};
  for (const BlobRow& row : rows_) {
    if (row.offset % kBlobAlignment != 0 || row.offset > size_ || row.count > size_ - row.offset) {
      refuse("is damaged", "a blob outside the file", "blobs inside it");
    }
  }
}

Blob FileReader::blob(std::size_t element_size) {
  if (next_ == rows_.size())
    refuse("ends too early", "no more blobs", "the blobs of this index kind");
  const BlobRow& row = rows_[next_++];
  if (row.element_size != element_size || row.count % element_size != 0) {
    refuse("does not fit", "elements of " + std::to_string(row.element_size) + " bytes",
           std::to_string(element_size) + " bytes", "was it written by another build of nearcast?");
  }
  return {bytes_ + row.offset, row.count, copy_.empty() ? file_ : -1, row.offset};
}

void FileReader::finish() const {
  if (next_ != rows_.size()) refuse("has blobs that nothing reads");
  if (size_now() != size_) refuse("became shorter or longer while it was read");
}

void FileReader::verify_contents() const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (checksum(bytes_ + rows_[i].offset, rows_[i].count) != rows_[i].checksum) {
      refuse("is damaged",
             "contents that do not fit their checksum (blob " + std::to_string(i) + ")",
             "the contents as they were written");
    }
  }
}

}  // namespace nearcast
