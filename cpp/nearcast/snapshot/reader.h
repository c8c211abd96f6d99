/// Reads the blobs of a snapshot, checked before anything believes them.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/snapshot/format.h"

namespace nearcast {

enum class Verify { kIfSmall, kAlways, kNever };

class FileReader final : public ArchiveReader {
 public:
  FileReader(std::string path, Verify verify);
  ~FileReader() override;
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;

  Blob blob(std::size_t element_size) override;
  bool is_checking() const override { return is_checking_; }
  /// Throws a snapshot error that names the file.
  [[noreturn]] void refuse(const std::string& what, const std::string& got = {},
                           const std::string& wanted = {}, const std::string& hint = {}) const;
  void finish() const;  ///< all blobs were read, and the file is as long as it was

 private:
  void release();
  void open_file();
  std::uint64_t size_now() const;
  void copy_file();
  void map_file();
  void verify_contents() const;
  void read_header();
  void read_table(const SnapshotHeader& header);

  std::string path_;
  int file_ = -1;
  std::uint64_t size_ = 0;
  const std::byte* bytes_ = nullptr;
  std::vector<std::byte> copy_;  ///< of a small file; bytes_ points into it
  bool is_checking_ = false;
  std::span<const BlobRow> rows_;
  std::size_t next_ = 0;
};

}  // namespace nearcast
