/// Writes the blobs of a snapshot to a file that appears whole or not at all.
#pragma once

#include <string>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/snapshot/format.h"

namespace nearcast {

class FileWriter final : public ArchiveWriter {
 public:
  explicit FileWriter(std::string path);
  ~FileWriter() override;  ///< without finish(): leaves nothing behind
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void blob(const void* bytes, std::size_t count, std::size_t element_size) override;
  void finish();

 private:
  void put(const void* bytes, std::size_t count);
  void pad();

  std::string path_, unfinished_;
  int file_ = -1;
  std::uint64_t position_ = 0;
  std::vector<BlobRow> rows_;
};

}  // namespace nearcast
