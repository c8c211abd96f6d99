/// Which terms do subscriptions use? A message derives no others (model/facts.h).
///
/// Counts by attribute name, and of prefixes by length and by their first two bytes: a message
/// without attributes of these names, and without words that begin like a prefix, looks nothing up.
/// Kept beside the vocabulary, by what holds and releases its words.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "nearcast/base/archive.h"
#include "nearcast/base/ids.h"
#include "nearcast/model/term_words.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

class TermRegistry {
 public:
  /// Of the terms that have this name.
  struct NameUses {
    std::uint32_t equals = 0, types = 0, exists = 0, numbers = 0;
    std::uint64_t levels = 0;  ///< bit per level of a cell
    std::array<std::uint32_t, 64> cells{};

    bool is_used() const { return equals + types + exists + numbers != 0 || levels != 0; }
  };

  bool empty() const { return terms_ == 0 && phrases_ == 0; }
  bool has_phrases() const { return phrases_ != 0; }
  bool has_prefixes() const { return !lengths_.empty(); }
  bool has_names() const { return !names_.empty(); }
  const NameUses* find(std::string_view name) const {  ///< null: no subscription has it
    const auto found = names_.find(name);
    return found == names_.end() ? nullptr : &found->second;
  }
  /// Changes whenever find() may answer otherwise.
  std::uint64_t version() const { return version_; }
  /// May a prefix that is used be the beginning of this word?
  bool may_begin(std::string_view word) const {
    return word.size() >= 2 && starts_[start_of(word)] != 0;
  }
  /// Calls visit(length) for the lengths of prefixes, ascending, up to `longest`.
  template <typename Visit>
  void for_each_length(std::size_t longest, Visit&& visit) const {
    for (const Length& each : lengths_) {
      if (each.length > longest) return;
      visit(each.length);
    }
  }

  /// One more use of a word, which may be a term, or one less.
  void add(std::string_view word) { count(word, 1); }
  void remove(std::string_view word) {
    if (terms_ != 0) count(word, std::uint32_t{0} - 1);
  }
  void add_phrase() { ++phrases_; }
  void remove_phrase() { --phrases_; }

  std::size_t memory_bytes() const;
  void save(ArchiveWriter& out) const;
  void load(ArchiveReader& in);
  bool operator==(const TermRegistry& other) const;  ///< the same counts?

 private:
  struct Length {
    std::uint32_t length, uses;
    bool operator==(const Length&) const = default;
  };
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view name) const {
      return std::hash<std::string_view>{}(name);
    }
  };
  static constexpr std::size_t kStarts = 4096;

  static std::size_t start_of(std::string_view word) {
    return (static_cast<unsigned char>(word[0]) * 31u + static_cast<unsigned char>(word[1]) * 7u) %
           kStarts;
  }
  void count(std::string_view word, std::uint32_t change);
  void count_prefix(std::string_view start, std::uint32_t change);
  void count_name(const Term& term, std::uint32_t change);

  std::uint64_t terms_ = 0, phrases_ = 0;
  std::uint64_t version_ = 1;
  std::unordered_map<std::string, NameUses, Hash, std::equal_to<>> names_;
  std::vector<Length> lengths_;        ///< of prefixes, ascending
  std::vector<std::uint32_t> starts_;  ///< by their first two bytes; empty: there was none yet
};

}  // namespace nearcast
