/// Reads the blobs of a snapshot, checked before anything believes them.
#pragma once

#include <span>
#include <string>

#include "nearcast/base/archive.h"
#include "nearcast/snapshot/format.h"

namespace nearcast {

class FileReader final : public ArchiveReader {
 public:
  explicit FileReader(std::string path);
  ~FileReader() override;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  Blob blob(std::size_t element_size) override;
  bool is_at_end() const { return next_ == rows_.size(); }
  std::uint64_t file_size() const { return size_; }
  void verify_contents() const;

 private:
  [[noreturn]] void refuse(const std::string& what, const std::string& got = {},
                           const std::string& wanted = {}, const std::string& hint = {}) const;
  void release();
  void open_file();
  void read_header();
  void read_table(const SnapshotHeader& header);

  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  const std::byte* bytes_ = nullptr;
  std::span<const BlobRow> rows_;
  std::size_t next_ = 0;
};

}  // namespace nearcast
