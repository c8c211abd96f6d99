/// What conditions look at: a message's words and terms, their order, its numbers and its place.
///
/// Facts are derived from a message each time it is matched, as far as subscriptions ask for them
/// (model/term_registry.h). A term is known by its word in the vocabulary, so a message that was
/// kept before a term came into use has it from then on.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "nearcast/model/message.h"
#include "nearcast/model/term_registry.h"
#include "nearcast/text/vocabulary.h"

namespace nearcast {

struct Facts {
  TokenSpan tokens;  ///< words and terms, ascending and distinct
  TokenSpan order;   ///< of the words; kUnknownToken: one that no subscription has
  std::span<const NumberFact> numbers;
  const Place* place = nullptr;
};

/// Derives facts, in memory that is used again.
class FactReader {
 public:
  /// The facts live until the next call, and as long as the message's tokens and place.
  const Facts& read(const Message& message, const Vocabulary& words, const TermRegistry& terms);
  /// Those of the last call to read().
  const Facts& facts() const { return facts_; }
  void trim();

 private:
  struct Source;

  void read_order(const Source& source);
  void derive_prefixes(const Source& source);
  /// What is known of an attribute's name; messages mostly have the same ones in the same order.
  struct Name {
    std::string name;
    const TermRegistry::NameUses* uses = nullptr;  ///< null: no subscription has it
    Token named = kUnknownToken;                   ///< of its term kNamed, if it is used
  };
  const Name& look_up(std::string_view name, std::size_t position, const Source& source);
  void derive_from(const Attribute& attribute, const Name& name, const Source& source);
  void derive_numbers(const Attribute& attribute, const Name& name, const Source& source);
  void add(const Vocabulary& words, std::string_view word) {
    const Token token = words.find(word);
    if (token != kUnknownToken) tokens_.push_back(token);
  }

  TermWords term_words_;
  std::vector<Token> tokens_, order_;
  std::vector<NumberFact> numbers_;
  std::vector<Name> names_;  ///< by position in the last message
  const TermRegistry* names_of_ = nullptr;
  std::uint64_t names_version_ = 0;  ///< of names_of_, when they were looked up
  Facts facts_;
};

}  // namespace nearcast
