/// Writes the blobs of a snapshot to a file that appears whole or not at all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/snapshot/format.h"

namespace nearcast {

class FileWriter final : public ArchiveWriter {
 public:
  explicit FileWriter(const std::string& path);
  ~FileWriter() override;  ///< without finish(): leaves nothing behind
  FileWriter(const FileWriter&) = delete;
  FileWriter& operator=(const FileWriter&) = delete;

  void blob(const void* bytes, std::size_t count, std::size_t element_size) override;
  void finish();

 private:
  void put(const void* bytes, std::size_t count);
  void pad();
  void choose_target();
  void keep_name() const;

  std::string path_;              ///< as the user gave it
  std::string target_;            ///< the file that is made or replaced
  std::string folder_;            ///< where it is
  std::string unfinished_;        ///< beside it, until all is written
  std::optional<unsigned> mode_;  ///< permissions of what is replaced
  int file_ = -1;
  std::uint64_t position_ = 0;
  std::vector<BlobRow> rows_;
};

}  // namespace nearcast
