#include "nearcast/model/facts.h"

#include "nearcast/model/kept_saying.h"

namespace nearcast {

struct FactReader::Source {
  const Message& message;
  const Vocabulary& words;
  const TermRegistry& terms;
};

const Facts& FactReader::read(const Message& message, const Vocabulary& words,
                              const TermRegistry& terms) {
  const Source source{message, words, terms};
  const Said& said = message.said;
  facts_ = {message.tokens, {}, {}, &message.place};
  tokens_.clear();
  order_.clear();
  numbers_.clear();
  if (terms.has_phrases()) read_order(source);
  if (terms.has_prefixes()) derive_prefixes(source);
  if (terms.has_names()) {
    if (names_version_ != terms.version() || names_of_ != &terms) names_.clear();
    names_version_ = terms.version();
    names_of_ = &terms;
    std::size_t position = 0;
    const auto derive = [&](const Attribute& attribute) {
      derive_from(attribute, look_up(attribute.name, position++, source), source);
    };
    if (said.fresh != nullptr) {
      for (const Attribute& attribute : said.fresh->attributes) derive(attribute);
    } else if (said.kept != nullptr) {
      for_each_attribute(KeptSaying(said.kept).attributes(), derive);
    }
  }
  facts_.order = order_;
  facts_.numbers = numbers_;
  if (!tokens_.empty()) {
    tokens_.insert(tokens_.end(), message.tokens.begin(), message.tokens.end());
    sort_unique(tokens_);
    facts_.tokens = tokens_;
  }
  return facts_;
}

void FactReader::read_order(const Source& source) {
  const Said& said = source.message.said;
  if (said.kept != nullptr) {
    KeptSaying(said.kept).read_order(source.message.tokens, order_);
  } else if (said.fresh == nullptr) {  // one word, or what has no order
    order_.assign(source.message.tokens.begin(), source.message.tokens.end());
  } else {
    for (const std::string_view word : said.fresh->words)
      order_.push_back(word.data() == nullptr ? kUnknownToken : source.words.find(word));
  }
}

void FactReader::derive_prefixes(const Source& source) {
  const auto derive = [&](std::string_view word) {
    if (!source.terms.may_begin(word)) return;
    source.terms.for_each_length(word.size(), [&](std::size_t length) {
      add(source.words, term_words_.prefix(word.substr(0, length)));
    });
  };
  if (const Saying* fresh = source.message.said.fresh; fresh != nullptr) {
    for (const std::string_view word : fresh->words) derive(word);
  } else {
    for (const Token token : source.message.tokens) derive(source.words.word(token));
  }
}

const FactReader::Name& FactReader::look_up(std::string_view name, std::size_t position,
                                            const Source& source) {
  if (position >= names_.size()) names_.resize(position + 1);
  Name& known = names_[position];
  if (known.name == name && !known.name.empty()) return known;
  known = {std::string(name), source.terms.find(name), kUnknownToken};
  if (known.uses != nullptr && known.uses->numbers != 0)
    known.named = source.words.find(term_words_.named(name));
  return known;
}

void FactReader::derive_from(const Attribute& attribute, const Name& name, const Source& source) {
  const TermRegistry::NameUses* uses = name.uses;
  if (uses == nullptr) return;
  if (uses->exists != 0) add(source.words, term_words_.exists(attribute.name));
  if (uses->types != 0) add(source.words, term_words_.typed(attribute.name, attribute.kind));
  if (uses->equals != 0 && attribute.kind != ValueKind::kNoTexts)
    add(source.words, term_words_.equal(attribute));
  if (attribute.kind == ValueKind::kNumber) derive_numbers(attribute, name, source);
}

void FactReader::derive_numbers(const Attribute& attribute, const Name& name,
                                const Source& source) {
  if (name.named != kUnknownToken) numbers_.push_back({name.named, attribute.number});
  if (name.uses->levels == 0) return;
  const std::uint64_t key = ordered_key(attribute.number);
  for (std::uint64_t left = name.uses->levels; left != 0; left &= left - 1) {
    const int level = std::countr_zero(left);
    add(source.words, term_words_.cell(attribute.name, {level, key >> level}));
  }
}

void FactReader::trim() {
  constexpr std::size_t kMostKept = 1 << 16;  // elements; what one huge message took is given back
  if (tokens_.capacity() > kMostKept) std::vector<Token>().swap(tokens_);
  if (order_.capacity() > kMostKept) std::vector<Token>().swap(order_);
  names_.clear();
  facts_ = {};
}

}  // namespace nearcast
