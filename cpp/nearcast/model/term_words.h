/// Terms: tokens that stand for something else than a word of a text.
///
///   prefix    some word starts with it
///   exists    the message has an attribute of this name
///   typed     … and its value is of this kind
///   equal     … and it is this value; of a list, one of its texts
///   named     … and it is a number, which comparisons look at
///   cell      … which lies in this dyadic cell of the line of numbers
///
/// They are words of the same vocabulary, in a name space that no text can reach: their first byte
/// is not UTF-8. A message has no terms of its own: they are derived from what it says when it is
/// matched (model/facts.h).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "nearcast/model/attribute.h"

namespace nearcast {

enum class TermKind : char {
  kPrefix = 'p',
  kExists = 'e',
  kTyped = 't',
  kEqual = '=',
  kNamed = 'n',
  kCell = 'c'
};

/// A dyadic cell: the keys (ordered_key()) that begin alike, without their last `level` bits.
struct Cell {
  int level = 0;  ///< 0 to 63
  std::uint64_t number = 0;
};

constexpr char kTermMark = '\xFF';

inline bool is_term(std::string_view word) { return !word.empty() && word[0] == kTermMark; }

/// The words of terms, in memory that is used again.
class TermWords {
 public:
  std::string_view prefix(std::string_view start) { return begin(TermKind::kPrefix, start); }
  std::string_view exists(std::string_view name) { return begin(TermKind::kExists, name); }
  std::string_view named(std::string_view name) { return begin(TermKind::kNamed, name); }
  std::string_view typed(std::string_view name, ValueKind kind);
  std::string_view equal(const Attribute& attribute);
  std::string_view cell(std::string_view name, const Cell& cell);

 private:
  std::string_view begin(TermKind kind, std::string_view name) {
    letters_ = {kTermMark, static_cast<char>(kind)};
    return letters_ += name;
  }
  void append_key(std::uint64_t key);

  std::string letters_;
};

/// What a term's word says.
struct Term {
  TermKind kind = TermKind::kPrefix;
  std::string_view name;  ///< of a prefix, its letters
  int level = 0;          ///< of a cell
};
/// False: it is not a term's word.
bool read_term(std::string_view word, Term& term);

}  // namespace nearcast
