/// Words and their numbers. Words are never forgotten, so a token means the same for ever.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "nearcast/base/archive.h"
#include "nearcast/base/array.h"
#include "nearcast/base/ids.h"
#include "nearcast/base/slot_table.h"

namespace nearcast {

class Vocabulary {
 public:
  std::size_t size() const { return words_.size(); }

  Token intern(std::string_view word);      ///< the word's token, made if it is new
  Token find(std::string_view word) const;  ///< kUnknownToken: never seen
  std::string_view word(Token token) const;

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);

 private:
  struct Word {
    std::uint64_t start;
    std::uint32_t length;
    std::uint32_t hash;
  };

  std::uint32_t find(std::string_view word, std::uint32_t hash) const;

  Array<Word> words_;
  Array<char> letters_;
  SlotTable table_;
};

}  // namespace nearcast
