/// What users ask about top subscriptions.
#include <algorithm>
#include <cmath>

#include "nearcast/modes/top_mode.h"
#include "nearcast/text/text_tokens.h"
#include "nearcast/topk/top_question.h"

namespace nearcast {
namespace {

/// A text that is not kept, in tokens. All its words count in the length of its vector, those too
/// that no subscription and no live message has.
class AskedText {
 public:
  AskedText(const Question& question, const Vocabulary& words, const TokenWeights& weights)
      : centre_(centre_of(question.message.place)) {
    std::vector<std::string_view> sorted(question.words.begin(), question.words.end());
    std::erase_if(sorted, is_gap);
    std::sort(sorted.begin(), sorted.end());
    std::vector<std::pair<Token, std::uint32_t>> known;
    double squares = 0;
    for (auto word = sorted.begin(); word != sorted.end();) {
      const auto end = std::upper_bound(word, sorted.end(), *word);
      const Token token = words.find(*word);
      const auto count = static_cast<std::uint32_t>(end - word);
      squares += std::pow(count * weights[token], 2);
      if (token != kUnknownToken) known.emplace_back(token, count);
      word = end;
    }
    std::sort(known.begin(), known.end());
    for (const auto& [token, count] : known) {
      tokens_.push_back(token);
      counts_.push_back(count);
    }
    length_ = std::sqrt(squares);
  }

  TopQuestion view() const { return {tokens_, counts_, length_, centre_}; }

 private:
  Point centre_;
  std::vector<Token> tokens_;
  std::vector<std::uint32_t> counts_;
  double length_ = 0;
};

}  // namespace

void TopMode::find_matches(const Question& question, std::vector<SubscriptionId>& out) const {
  if (!lists_) return;
  const AskedText asked(question, words_, *weights_);
  FactReader reader;
  const Facts& facts = reader.read(question.message, words_, terms_);
  lists_->for_each([&](SubscriptionId id) {
    if (lists_->judge(id, asked.view()).is_better && conditions_.accepts(id, facts))
      out.push_back(id);
  });
}

Definition TopMode::definition(SubscriptionId id) const {
  Definition found{{}, Anywhere{}};
  for (const Token token : lists_->tokens(id)) found.words.emplace_back(words_.word(token));
  const TopTerms terms = lists_->terms(id);
  found.terms.mode = ModeId::kTop;
  found.terms.k = terms.k;
  found.terms.alpha = terms.alpha;
  found.terms.at = terms.at;
  return found;
}

Verdict TopMode::explain(SubscriptionId id, const Question& question) const {
  const AskedText asked(question, words_, *weights_);
  const TopVerdict found = lists_->judge(id, asked.view());
  FactReader reader;
  const bool is_accepted = conditions_.accepts(id, reader.read(question.message, words_, terms_));
  return {definition(id), found.is_better && is_accepted, true,
          ScoreParts{found.spatial, found.textual, found.score, found.last_score}};
}

}  // namespace nearcast
