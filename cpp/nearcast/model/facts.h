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

struct NumberFact {
  Token name;  ///< of its term kNamed
  double value;
};

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
  void derive_from(const Attribute& attribute, const Source& source);
  void derive_numbers(const Attribute& attribute, const TermRegistry::NameUses& uses,
                      const Source& source);
  void add(const Vocabulary& words, std::string_view word) {
    const Token token = words.find(word);
    if (token != kUnknownToken) tokens_.push_back(token);
  }

  TermWords term_words_;
  std::vector<Token> tokens_, order_;
  std::vector<NumberFact> numbers_;
  Facts facts_;
};

}  // namespace nearcast
