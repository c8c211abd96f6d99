#include "nearcast/model/term_words.h"

namespace nearcast {
namespace {

/// Lists of texts compare as texts do.
char letter_of(ValueKind kind) {
  return kind == ValueKind::kNumber ? 'n' : kind == ValueKind::kTruth ? 'b' : 's';
}

}  // namespace

std::string_view TermWords::typed(std::string_view name, ValueKind kind) {
  begin(TermKind::kTyped, name);
  letters_ += '\0';
  return letters_ += letter_of(kind);
}

std::string_view TermWords::equal(const Attribute& attribute) {
  begin(TermKind::kEqual, attribute.name);
  letters_ += '\0';
  letters_ += letter_of(attribute.kind);
  if (attribute.kind == ValueKind::kText) return letters_ += attribute.text;
  append_key(ordered_key(attribute.number));
  return letters_;
}

std::string_view TermWords::cell(std::string_view name, const Cell& cell) {
  begin(TermKind::kCell, name);
  letters_ += '\0';
  letters_ += static_cast<char>(cell.level);
  append_key(cell.number);
  return letters_;
}

void TermWords::append_key(std::uint64_t key) {
  letters_.append(reinterpret_cast<const char*>(&key), sizeof(key));
}

bool read_term(std::string_view word, Term& term) {
  if (!is_term(word) || word.size() < 3) return false;
  term.kind = static_cast<TermKind>(word[1]);
  word.remove_prefix(2);
  switch (term.kind) {
    case TermKind::kPrefix:
    case TermKind::kExists:
    case TermKind::kNamed:
      term.name = word;
      return true;
    case TermKind::kTyped:
    case TermKind::kEqual:
    case TermKind::kCell:
      break;
    default:
      return false;
  }
  const std::size_t end = word.find('\0');
  if (end == std::string_view::npos || end + 1 >= word.size()) return false;
  term.name = word.substr(0, end);
  if (term.kind != TermKind::kCell) return true;
  term.level = static_cast<unsigned char>(word[end + 1]);
  return term.level < 64 && word.size() == end + 2 + sizeof(std::uint64_t);
}

}  // namespace nearcast
